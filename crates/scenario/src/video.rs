//! Films in segments, in several qualities.

use anabranch_stack::time::Duration;
use toml::Value;

use super::application::Video;
use super::error::Error;
use super::reader::{Section, list, whole};
use super::schema::FASTEST;
use super::units::{RATE, TIME};

/// Qualities of a film, and segments.
const MOST_RUNGS: usize = 64;
const MOST_SEGMENTS: u64 = 1_000_000;
const BUFFER: Duration = Duration::from_secs(30);

/// Reads `ladder` and what belongs to it; `request` is read already.
pub(super) fn read(section: &Section<'_>, request: u64) -> Result<Video, Error> {
    let ladder = section.require("ladder", ladder)?;
    let segment: Duration = section.value("segment")?;
    let count = section.require("count", |v| whole(v, 1, MOST_SEGMENTS))?;
    let buffer = section.value_or("buffer", Duration(BUFFER.0.max(segment.0)))?;
    let startup = section.value_or("startup", segment)?;
    if buffer.0 < segment.0 {
        let problem = format!("{} is shorter than one segment, {}", TIME.write(buffer.0), TIME.write(segment.0));
        return Err(Error::at("buffer", problem, "raise buffer, or lower segment"));
    }
    // A segment is asked for when there is room for all of it.
    let full = buffer.0 / segment.0 * segment.0;
    if startup.0 > full {
        let problem = format!("{} is more than the buffer can hold, {}", TIME.write(startup.0), TIME.write(full));
        return Err(Error::at("startup", problem, "lower startup, or raise buffer"));
    }
    Ok(Video { ladder, segment, count, buffer, startup, request })
}

fn ladder(value: &Value) -> Result<Vec<u64>, Error> {
    let written = "ladder = [\"1 Mbit/s\", \"3 Mbit/s\"]";
    let rates = list(value, written)?
        .iter()
        .enumerate()
        .map(|(i, v)| RATE.read(v, 1, FASTEST).map_err(|e| e.within(&format!("[{i}]"))));
    let rates: Vec<u64> = rates.collect::<Result<_, _>>()?;
    if rates.is_empty() || rates.len() > MOST_RUNGS {
        return Err(Error::new(
            format!("the list has {} bit rates", rates.len()),
            format!("allowed: 1 to {MOST_RUNGS} bit rates"),
        ));
    }
    if let Some(i) = rates.windows(2).position(|pair| pair[0] >= pair[1]) {
        let (low, high) = (RATE.write(rates[i]), RATE.write(rates[i + 1]));
        return Err(Error::at(&format!("[{}]", i + 1), format!("{high} is not above {low}"), "bit rates must rise"));
    }
    Ok(rates)
}
