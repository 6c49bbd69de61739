//! Hosts, routers, links, and the routes of connections over them.

use super::*;

const LONG: &str = "
    [[host]]\nname = 'c'\n[[host]]\nname = 's'\n[[router]]\nname = 'r'\n[[router]]\nname = 'q'
    [[link]]\nname = 'wifi'\nfrom = 'c'\nto = 'r'\n[[link]]\nname = 'lte'\nfrom = 'q'\nto = 'c'
    [[link]]\nname = 'core'\nfrom = 'r'\nto = 's'\n[[link]]\nname = 'cross'\nfrom = 'q'\nto = 'r'\n";

fn long(connection: &str) -> Result<Scenario, String> {
    over(&format!("{LONG}[[connection]]\ntransfer = {{}}\n{connection}"), &[])
}

#[test]
fn routes_are_derived_one_for_each_link_of_the_client() {
    let s = long("client = 'c'\nserver = 's'").unwrap();
    assert_eq!(s.connections[0].paths, [vec![0, 2], vec![1, 3, 2]]);
    let back = long("client = 's'\nserver = 'c'").unwrap();
    assert_eq!(back.connections[0].paths, [[2, 0]]);
}

#[test]
fn written_routes_are_chains_from_client_to_server() {
    let with = |paths: &str| long(&format!("client = 'c'\nserver = 's'\npaths = {paths}"));
    let s = with("[['lte', 'cross', 'core'], ['wifi', 'core']]").unwrap();
    assert_eq!(s.connections[0].paths, [vec![1, 3, 2], vec![0, 2]]);
    for (paths, part) in [
        ("[['wifi']]", "connection[0].paths[0]: the route ends at \"r\", not at the server \"s\""),
        ("['wifi']", "connection[0].paths[0]: the route ends"),
        (
            "[['wifi', 'lte']]",
            "paths[0][1]: link \"lte\" joins \"q\" and \"c\", not \"r\"\n  a route is a chain of links from client to server; links of \"r\": wifi, core, cross",
        ),
        ("[['wifi', 'cross', 'lte']]", "paths[0][2]: link \"lte\" leads back to \"c\""),
        ("[['wify', 'core']]", "paths[0][0]: no link is called \"wify\"\n  did you mean \"wifi\"?"),
        ("[[]]", "paths[0]: the route ends at \"c\""),
        ("[5]", "paths[0]: expected the links of a route"),
        ("[]", "paths: the list of routes is empty"),
        ("'wifi'", "paths: expected a list"),
    ] {
        let said = with(paths).unwrap_err();
        assert!(said.contains(part), "{paths}\n---\n{said}");
    }
}

#[test]
fn ends_of_links_and_connections_must_exist_and_differ() {
    for (connection, part) in [
        ("client = 'c'\nserver = 'c'", "connection[0].server: client and server are both \"c\""),
        ("client = 'r'\nserver = 's'", "connection[0].client: \"r\" is a router"),
        ("client = 'd'\nserver = 's'", "no host or router is called \"d\""),
        ("server = 's'", "connection[0].client: missing"),
    ] {
        let said = long(connection).unwrap_err();
        assert!(said.contains(part), "{said}");
    }
    let rest = "[connection]\nclient = 'a'\nserver = 'b'\n[transfer]";
    let hosts = "[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n";
    for (text, part) in [
        (format!("{hosts}{rest}"), "link: the scenario has no link"),
        (format!("{hosts}[[link]]\nname = 'l'\nfrom = 'a'\nto = 'a'\n{rest}"), "link[0].to: the link begins and ends"),
        (format!("{hosts}[[link]]\nname = 'l'\nfrom = 'a'\n{rest}"), "link[0].to: missing"),
        (format!("{hosts}[[link]]\nfrom = 'a'\nto = 'b'\n{rest}"), "link[0].name: missing"),
        (format!("{hosts}[[host]]\nname = 'a'\n{rest}"), "host[2].name: the name \"a\" is taken"),
        (format!("{hosts}[[router]]\nname = 'a'\n{rest}"), "router[0].name: the name \"a\" is taken"),
    ] {
        let said = refused(&text);
        assert!(said.contains(part), "{text}\n---\n{said}");
    }
}

#[test]
fn hosts_do_not_forward() {
    let text = "[connection]\nclient = 'a'\nserver = 'c'\npaths = [['ab', 'bc']]\n[transfer]
        [[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[host]]\nname = 'c'
        [[link]]\nname = 'ab'\nfrom = 'a'\nto = 'b'\n[[link]]\nname = 'bc'\nfrom = 'b'\nto = 'c'";
    assert!(refused(text).contains("connection.paths[0][0]: the route passes through host \"b\""));
    let derived = text.replace("paths = [['ab', 'bc']]", "");
    assert!(refused(&derived).contains("no route leads from \"a\" to \"c\""));
}

/// 255 paths are allowed. A mesh of 16 by 16 links has one more, also if 255 of its routes are
/// written.
#[test]
fn a_connection_has_at_most_255_paths() {
    let host = "[[host]]\nname = 'c'\n[[host]]\nname = 's'\n[[router]]\nname = 'r'\n";
    let link = |name: &str, from: &str, to: &str| format!("[[link]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\n");
    let links: String = (0..16).map(|i| link(&format!("a{i}"), "c", "r") + &link(&format!("b{i}"), "r", "s")).collect();
    let with = |n: usize, mesh: &str| {
        let routes: Vec<String> = (0..n).map(|i| format!("['a{}', 'b{}']", i / 16, i % 16)).collect();
        let keys = format!("client = 'c'\nserver = 's'\ntransfer = {{}}\npaths = [{}]\n{mesh}", routes.join(", "));
        over(&format!("{host}{links}[[connection]]\n{keys}"), &[])
    };
    assert_eq!(with(255, "").unwrap().connections[0].paths.len(), 255);
    assert!(
        with(256, "")
            .unwrap_err()
            .contains("connection[0].paths: the connection has more than 255 paths\n  allowed: 1 to 255")
    );
    assert!(with(255, "path_manager = 'full-mesh'").unwrap_err().contains("more than 255 paths"));
}

#[test]
fn several_connections_share_the_paths_of_the_short_form() {
    let s = read(
        "[[path]]\n[[path]]\n[[connection]]\ntransfer = {}\n[[connection]]\npaths = ['path1']\n[connection.transfer]\nbytes = '1 MB'",
    );
    assert_eq!(s.connections[0].paths, [[0], [1]]);
    assert_eq!(s.connections[1].paths, [[1]]);
    assert_eq!((s.connections[1].name.as_str(), s.connections[1].client), ("connection1", 0));
    assert!(
        refused("[[path]]\n[[connection]]\nname = 'x'\ntransfer = {}\n[[connection]]\nname = 'x'\ntransfer = {}")
            .contains("connection[1].name: the name \"x\" is taken")
    );
}
