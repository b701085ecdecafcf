//! Programs that compile their kernels while they run, on the simulator.

use crate::support::{Project, edited, require_tools, root};

fn project() -> Project {
    Project::copy_of(&root().join("tests/standin/projects/run_time"))
}

/// A kernel in a raw literal is tuned, rewritten, checked and read by line as any other.
#[test]
fn a_kernel_in_a_literal_is_tuned_where_it_stands() {
    require_tools!();
    let project = project();
    let before = project.read("main.cpp");
    let ended = project.run(&["profile"]).expect(0);
    let profile = ended.named("profile")[0];
    assert_eq!((&profile["correct"], &profile["kernel"]), (&true.into(), &"scale".into()), "{profile}");
    let copy = 1 + before.lines().position(|line| line.contains("DataCopy(a, xGm[at]")).expect("a line");
    let path = profile["critical_path"].as_array().expect("a path");
    let reads = |step: &&serde_json::Value| (&step["file"], &step["line"]) == (&"main.cpp".into(), &copy.into());
    assert!(path.iter().any(|step| reads(&step)), "no word of line {copy}: {path:#?}");

    let ended = project.run(&["run", "--budget", "30", "--seed", "1"]).expect(0);
    let summary = ended.named("summary")[0];
    assert!(summary["speedup"].as_f64().expect("a factor") > 1.5, "{summary}");
    let after = project.read("main.cpp");
    assert!(!after.contains("TILE_LENGTH = 256;"), "the tile is in the literal: {after}");
    project.run(&["check"]).expect(0);
    let rewritten = self::project().run(&["run", "--budget", "6", "--seed", "1", "--stage", "kernel"]).expect(0);
    let motifs = rewritten.named("summary")[0]["motifs"].as_array().expect("a list");
    assert!(!motifs.is_empty(), "{rewritten:?}");

    // Lines of another system are the same program.
    let other = self::project();
    other.write("main.cpp", &before.replace('\n', "\r\n"));
    other.run(&["profile"]).expect(0);

    let built = project.run(&["build"]).expect(0);
    let artifacts = built.named("build")[0]["artifacts"].to_string();
    assert!(artifacts.contains("/scale\""), "{artifacts}");
}

/// What is put together while the program runs is known to nobody before, and is refused with that word.
#[test]
fn a_text_that_is_put_together_is_refused() {
    require_tools!();
    let project = project();
    let text = project.read("main.cpp");
    let text = edited(&text, "#include <vector>\n", "#include <string>\n#include <vector>\n");
    project.write(
        "main.cpp",
        &edited(&text, "&program, source,", "&program, (std::string(source) + \"// more\\n\").c_str(),"),
    );
    let ended = project.run(&["profile"]);
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(format!("{ended:?}").contains("the simulator knows no kernel with this text"), "{ended:?}");
}

/// A kernel in a file that the program reads is one of the project's kernels.
#[test]
fn a_kernel_in_a_file_is_known() {
    require_tools!();
    let project = project();
    let text = project.read("main.cpp");
    let (start, end) = (text.find("R\"--(").expect("a literal"), text.find(")--\"").expect("its end"));
    let kernel = text[start + 5..end].to_owned();
    let main = format!("{}load(){}", &text[..start], &text[end + 4..]);
    let main = main.replace("const char *source = load();", "const std::string source = load();");
    let main = main.replace("&program, source,", "&program, source.c_str(),");
    let main = edited(
        &main,
        "int main()\n",
        "std::string load()\n{\n    std::ostringstream text;\n    text << std::ifstream(PLACE \"/scale.cpp\").rdbuf();\n    return text.str();\n}\n\nint main()\n",
    );
    let main = edited(
        &main,
        "#include <vector>\n",
        "#include <fstream>\n#include <sstream>\n#include <string>\n#include <vector>\n",
    );
    project.write("main.cpp", &main);
    project.write("scale.cpp", &kernel);
    let lists = project.read("CMakeLists.txt");
    project.write(
        "CMakeLists.txt",
        &format!("{lists}target_compile_definitions(scale PRIVATE PLACE=\"${{CMAKE_CURRENT_SOURCE_DIR}}\")\n"),
    );
    let manifest = project.read("ascend.toml");
    let manifest = edited(
        &manifest,
        "file = \"main.cpp\"\nconstant = \"TILE_LENGTH\"",
        "file = \"scale.cpp\"\nconstant = \"TILE_LENGTH\"",
    );
    project.write(
        "ascend.toml",
        &edited(&manifest, "sources = [\"main.cpp\"]", "sources = [\"main.cpp\", \"scale.cpp\"]"),
    );
    let ended = project.run(&["run", "--budget", "12", "--seed", "1", "--stage", "host"]).expect(0);
    let summary = ended.named("summary")[0];
    assert!(summary["speedup"].as_f64().expect("a factor") > 1.5, "{summary}");
    assert!(!project.read("scale.cpp").contains("TILE_LENGTH = 256;"));
    project.run(&["check"]).expect(0);
}

/// Data that a program draws by the clock are the same in every run of it.
#[test]
fn data_drawn_by_the_clock_are_the_same_in_every_run() {
    require_tools!();
    let project = project();
    let text = edited(
        &project.read("main.cpp"),
        "#include <vector>\n",
        "#include <cstdlib>\n#include <ctime>\n#include <vector>\n",
    );
    let text = edited(
        &text,
        "    std::vector<float> x(ELEMENTS);\n",
        "    std::vector<float> x(ELEMENTS);\n    std::srand(static_cast<unsigned>(std::time(nullptr)));\n",
    );
    let text = edited(
        &text,
        "        x[i] = static_cast<float>(i % 64);\n",
        "        x[i] = static_cast<float>(std::rand() % 64);\n",
    );
    project.write("main.cpp", &edited(&text, "y[i] == 3.0f * static_cast<float>(i % 64)", "y[i] == 3.0f * x[i]"));
    // From its beginning to its end this takes several seconds.
    let ended = project.run(&["run", "--budget", "6", "--seed", "1", "--stage", "host"]).expect(0);
    assert_eq!(ended.named("summary")[0]["rejected"], 0, "{ended:?}");
    std::thread::sleep(std::time::Duration::from_secs(1));
    project.run(&["check"]).expect(0);
}
