//! Operators that reach for what is not theirs. Each attempt is made by the tiling function, which refuses its case where the
//! attempt succeeds.

use std::net::TcpListener;

use confinement::Layers;

use crate::support::{Project, edited, require_tools};

const HOST: &str = "op_host/add_custom.cpp";

/// What an attempt needs to be held back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Always,
    Landlock,
    Tcp,
    Signals,
    Namespaces,
}

impl By {
    fn holds(self, layers: Layers) -> bool {
        match self {
            By::Always => true,
            By::Landlock => layers.files,
            By::Tcp => layers.tcp || layers.namespaces,
            By::Signals => layers.signals || layers.namespaces,
            By::Namespaces => layers.namespaces,
        }
    }
}

/// The operator with a function that says whether an attempt succeeds.
fn with_attempt(attempt: &str) -> Project {
    let project = Project::fixture("add_custom");
    let host = project.read(HOST);
    let headers = "#include <arpa/inet.h>\n#include <fstream>\n#include <csignal>\n#include <cstdlib>\n#include <iostream>\n#include <sys/prctl.h>\n\
                   #include <sys/socket.h>\n#include <sys/stat.h>\n#include <unistd.h>\n";
    let attempted = format!("static bool Attempt()\n{{\n    {attempt}\n}}\n\nnamespace optiling {{");
    let host = edited(&host, "namespace optiling {", &attempted);
    let begin = "    const auto shape = context->GetInputShape(0)->GetStorageShape();";
    let asked = format!("    if (Attempt()) {{\n        return ge::GRAPH_FAILED;\n    }}\n{begin}");
    project.write(HOST, &format!("{headers}{}", edited(&host, begin, &asked)));
    project
}

fn connection(kind: &str, port: u16) -> String {
    format!(
        "const int handle = socket(AF_INET, {kind}, 0);\n    sockaddr_in to{{}};\n    to.sin_family = AF_INET;\n    \
         to.sin_port = htons({port});\n    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n    \
         return handle >= 0 && connect(handle, reinterpret_cast<sockaddr *>(&to), sizeof(to)) == 0;"
    )
}

fn attempts(secret: &str, port: u16) -> Vec<(&'static str, String, By)> {
    vec![
        ("a variable", "return std::getenv(\"ASCEND_TUNE_TEST_TOKEN\") != nullptr;".to_owned(), By::Always),
        ("a file", format!("return std::ifstream(\"{secret}\").good();"), By::Landlock),
        ("a file to write", format!("return std::ofstream(\"{secret}\", std::ios::app).good();"), By::Landlock),
        (
            "the parent's environment",
            "return std::ifstream(\"/proc/\" + std::to_string(getppid()) + \"/environ\").get() != -1;".to_owned(),
            By::Landlock,
        ),
        ("TCP", connection("SOCK_STREAM", port), By::Tcp),
        ("UDP", connection("SOCK_DGRAM", port), By::Namespaces),
        ("a signal", "return kill(getppid(), 0) == 0;".to_owned(), By::Signals),
        ("a mode", format!("return chmod(\"{secret}\", 0666) == 0;"), By::Namespaces),
    ]
}

/// Makes every attempt that these layers hold back. What they do not is not asked: it would say nothing.
fn are_held_back(layers: Layers, namespaces: &str) {
    let outside = tempfile::tempdir_in("/var/tmp").expect("a directory that no operator has to do with");
    let secret = outside.path().join("secret");
    fs_err::write(&secret, "secret").expect("writable");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    // All in one: each of them says its name when it succeeds.
    let held = attempts(&secret.display().to_string(), port).into_iter().filter(|(_, _, by)| by.holds(layers));
    let said = held.map(|(what, attempt, _)| {
        format!("if ([]() -> bool {{ {attempt} }}()) {{\n        std::cerr << \"reached {what}\\n\";\n        return true;\n    }}\n    ")
    });
    let project = with_attempt(&(said.collect::<String>() + "return false;"));
    let mut command = project.command(&["profile"]);
    command.env("ASCEND_TUNE_TEST_TOKEN", "secret").env("ASCEND_TUNE_NAMESPACES", namespaces);
    let ended = command.output().expect("it runs");
    let words = String::from_utf8_lossy(&ended.stderr).into_owned() + &String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "something was within reach: {words}");
    assert_eq!(fs_err::read_to_string(&secret).expect("it is still there"), "secret");
    drop(outside);
}

#[test]
fn what_an_operator_need_not_reach_is_out_of_reach() {
    require_tools!();
    are_held_back(Layers::of_this_machine(), "on");
}

#[test]
fn without_namespaces_the_other_layers_hold_and_the_gaps_are_named() {
    require_tools!();
    let layers = Layers { namespaces: false, ..Layers::of_this_machine() };
    are_held_back(layers, "off");
    let project = Project::fixture("add_custom");
    let doctor = project.command(&["doctor"]).env("ASCEND_TUNE_NAMESPACES", "off").output().expect("it runs");
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned() + &String::from_utf8_lossy(&doctor.stderr);
    assert!(layers.missing().iter().all(|gap| text.contains(gap)), "{text}");
}

/// The attempts would succeed if nothing held them back: an attempt that cannot succeed tests nothing.
#[test]
fn an_attempt_that_succeeds_is_seen() {
    require_tools!();
    let project = with_attempt("return std::ifstream(\"/proc/self/status\").good();");
    assert_ne!(project.run(&["profile"]).code, 0);
}

/// Memory that everybody shares keeps what a run leaves there for the next one.
#[test]
fn shared_memory_is_gone_with_its_run() {
    require_tools!();
    if !Layers::of_this_machine().namespaces {
        return;
    }
    let file = format!("/dev/shm/ascend-tune-{}", std::process::id());
    let project =
        with_attempt(&format!("std::ofstream(\"{file}\") << 1;\n    return !std::ifstream(\"{file}\").good();"));
    // The tiling function has its own, or none that it may write: whichever it is, nothing arrives outside.
    project.run(&["profile"]);
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn nothing_outlives_its_run() {
    require_tools!();
    if !Layers::of_this_machine().namespaces {
        return;
    }
    let name = format!("outlive{}", std::process::id() % 100_000);
    let project = with_attempt(&format!(
        "if (fork() == 0) {{\n        setsid();\n        prctl(PR_SET_NAME, \"{name}\");\n        for (int handle = 0; \
         handle < 64; handle++) {{\n            close(handle);\n        }}\n        sleep(60);\n        _exit(0);\n    \
         }}\n    return false;"
    ));
    project.run(&["profile"]).expect(0);
    let processes = fs_err::read_dir("/proc").expect("Linux").filter_map(Result::ok);
    let left = processes
        .filter(|process| std::fs::read_to_string(process.path().join("comm")).is_ok_and(|comm| comm.trim() == name));
    assert_eq!(left.count(), 0);
}

/// CMake does what its files tell it to, and its user's sources are none of its business.
#[test]
fn cmake_leaves_the_sources_alone() {
    require_tools!();
    if !Layers::of_this_machine().files {
        return;
    }
    let project = Project::fixture("add_custom");
    let (cmake, host) = (project.read("CMakeLists.txt"), project.read(HOST));
    let file = project.path().join(HOST);
    let hostile = format!(
        "{cmake}\nfile(WRITE ${{CMAKE_BINARY_DIR}}/mine \"\")\nexecute_process(COMMAND sh -c \"echo evil >> '{}'\")\n",
        file.display()
    );
    project.write("CMakeLists.txt", &hostile);
    project.run(&["profile"]).expect(0);
    assert_eq!(project.read(HOST), host);
}
