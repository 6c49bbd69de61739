// Data sequence over time, to be zoomed: the wheel zooms both axes where the pointer is (with Shift time alone), dragging
// moves, a double click shows everything again. Everything that it shows stands in `data`, in the same file.
(function (box) {
  "use strict";
  var data = JSON.parse(box.querySelector("script").textContent);
  var canvas = box.querySelector("canvas"), pen = canvas.getContext("2d");
  var all = [0, data.end, 0, data.top], view = all.slice();
  var left = 64, bottom = 40, right = 10, top = 8, wide, high;

  function x(t) { return left + (t - view[0]) / (view[1] - view[0]) * (wide - left - right); }
  function y(octet) { return high - bottom - (octet - view[2]) / (view[3] - view[2]) * (high - bottom - top); }
  function step(span, most) {
    var size = Math.pow(10, Math.floor(Math.log10(span / most)));
    return [1, 2, 5, 10].map(function (n) { return n * size; }).find(function (s) { return span / s <= most; });
  }
  function label(value, size) { return value.toFixed(Math.max(0, -Math.floor(Math.log10(size) + 1e-9))); }

  function grid() {
    pen.font = "13px system-ui, 'Liberation Sans', sans-serif";
    pen.lineWidth = 1;
    var s = step(view[1] - view[0], 8), v;
    pen.textAlign = "center";
    for (v = Math.ceil(view[0] / s) * s; v <= view[1]; v += s) {
      pen.strokeStyle = data.grid; pen.beginPath(); pen.moveTo(x(v), top); pen.lineTo(x(v), high - bottom); pen.stroke();
      pen.fillStyle = "#333"; pen.fillText(label(v, s), x(v), high - bottom + 17);
    }
    pen.fillText("time (s)", (wide + left - right) / 2, high - 6);
    s = step(view[3] - view[2], 7);
    pen.textAlign = "right";
    for (v = Math.ceil(view[2] / s) * s; v <= view[3]; v += s) {
      pen.strokeStyle = data.grid; pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(wide - right, y(v)); pen.stroke();
      pen.fillStyle = "#333"; pen.fillText(label(v / 1e6, s / 1e6), left - 7, y(v) + 4);
    }
    pen.save(); pen.translate(14, (high - bottom + top) / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center";
    pen.fillText("data stream (MB)", 0, 0); pen.restore();
  }

  function stairs(line) {
    pen.strokeStyle = line.colour; pen.setLineDash(line.dashes); pen.lineWidth = 1.2; pen.beginPath();
    for (var i = 0; i < line.t.length; i++) {
      if (i) { pen.lineTo(x(line.t[i]), y(line.v[i - 1])); pen.lineTo(x(line.t[i]), y(line.v[i])); }
      else { pen.moveTo(x(line.t[i]), y(line.v[i])); }
    }
    pen.stroke(); pen.setLineDash([]);
  }

  function spans(set) {
    pen.strokeStyle = pen.fillStyle = set.colour;
    pen.lineWidth = set.mark ? 3.5 : 2;
    for (var i = 0; i < set.t.length; i++) {
      var at = set.t[i], a = y(set.low[i]), b = y(set.high[i]);
      if (at < view[0] || at > view[1] || a < 0 || b > high) { continue; }
      if (a - b < 3) { b = (a + b) / 2 - 1.5; a = b + 3; }
      pen.beginPath(); pen.moveTo(x(at), a); pen.lineTo(x(at), b); pen.stroke();
      if (set.mark === "x") {
        var m = (a + b) / 2, c = x(at);
        pen.lineWidth = 1.5; pen.beginPath();
        pen.moveTo(c - 4, m - 4); pen.lineTo(c + 4, m + 4); pen.moveTo(c - 4, m + 4); pen.lineTo(c + 4, m - 4);
        pen.stroke(); pen.lineWidth = 3.5;
      }
    }
  }

  function draw() {
    var scale = window.devicePixelRatio || 1;
    wide = canvas.clientWidth; high = canvas.clientHeight;
    canvas.width = wide * scale; canvas.height = high * scale; pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, high);
    grid();
    pen.save(); pen.beginPath(); pen.rect(left, top, wide - left - right, high - bottom - top); pen.clip();
    data.lines.forEach(stairs);
    data.spans.forEach(spans);
    pen.restore();
  }

  function keep(low, span, from, to) {
    span = Math.min(span, to - from);
    low = Math.max(from, Math.min(low, to - span));
    return [low, low + span];
  }
  function show(t, ts, v, vs) { view = keep(t, ts, all[0], all[1]).concat(keep(v, vs, all[2], all[3])); draw(); }

  canvas.addEventListener("wheel", function (event) {
    event.preventDefault();
    var f = Math.pow(1.0015, event.deltaY || event.deltaX), g = event.shiftKey ? 1 : f;
    var at = Math.min(1, Math.max(0, (event.offsetX - left) / (wide - left - right)));
    var up = Math.min(1, Math.max(0, (high - bottom - event.offsetY) / (high - bottom - top)));
    var ts = view[1] - view[0], vs = view[3] - view[2];
    show(view[0] + at * ts * (1 - f), ts * f, view[2] + up * vs * (1 - g), vs * g);
  }, { passive: false });
  canvas.addEventListener("pointerdown", function (down) {
    var old = view.slice();
    canvas.setPointerCapture(down.pointerId);
    canvas.onpointermove = function (move) {
      var dt = (move.offsetX - down.offsetX) / (wide - left - right) * (old[1] - old[0]);
      var dv = (move.offsetY - down.offsetY) / (high - bottom - top) * (old[3] - old[2]);
      show(old[0] - dt, old[1] - old[0], old[2] + dv, old[3] - old[2]);
    };
    canvas.onpointerup = canvas.onpointercancel = function () { canvas.onpointermove = null; };
  });
  canvas.addEventListener("dblclick", function () { view = all.slice(); draw(); });
  window.addEventListener("resize", draw);
  draw();
})(document.currentScript.parentNode);
