"""The arrows between the folders of src/: who may include whom, and where the libraries of others stay."""

import pathlib
import re
import unittest

SRC = pathlib.Path(__file__).resolve().parents[2] / "src"

# folder: the folders whose headers it may include, beside its own
ARROWS = {
    "core": set(),
    "machine": {"core"},
    "tenants": {"core", "machine"},
    "store": {"core"},
    "wire": {"core"},
    "config": {"core"},
    "text": {"core"},
    "shim": {"core"},
    "daemon": {"core", "machine", "tenants", "store", "wire", "config"},
    "cli": {"core", "wire", "config", "text"},
}

# single headers beyond the arrows: what two programs agree on
SHARED = {"shim": {"machine/shim_protocol.h"}}

# a library's header: the folders that may know it
LIBRARIES = {
    "SQLiteCpp/": {"store"},
    "sqlite3.h": {"store"},
    "curl/": {"tenants"},
    "microhttpd.h": {"daemon"},
    "CLI/": {"cli", "daemon"},
    "toml++/": {"config"},
    "toml.hpp": {"config"},
    "nlohmann/": {"tenants", "store", "wire", "daemon", "cli"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes():
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            yield path.relative_to(SRC), quote, name


class Includes(unittest.TestCase):
    def test_every_folder_has_its_arrows(self):
        folders = {p.name for p in SRC.iterdir() if p.is_dir() and any(p.rglob("*.cc"))}
        self.assertTrue(folders, "nothing found: the test looks in the wrong place")
        self.assertEqual(folders - set(ARROWS), set(), "a new folder: say here what it may include")

    def test_own_headers_follow_the_arrows(self):
        wrong = []
        for path, quote, name in includes():
            target = name.split("/")[0]
            if quote == "<":
                if target in ARROWS and (SRC / name).exists():
                    wrong.append(f"{path}: <{name}> is ours: quotes")
                continue
            if not (SRC / name).is_file():
                wrong.append(f'{path}: "{name}" is no file in src/; paths begin at src/')
            elif name in SHARED.get(path.parts[0], ()):
                continue
            elif target != path.parts[0] and target not in ARROWS[path.parts[0]]:
                wrong.append(f"{path}: {path.parts[0]} may not include {name}")
        self.assertEqual(wrong, [])

    def test_libraries_stay_where_they_belong(self):
        wrong = []
        for path, quote, name in includes():
            for prefix, folders in LIBRARIES.items():
                if quote == "<" and name.startswith(prefix) and path.parts[0] not in folders:
                    wrong.append(f"{path}: <{name}> belongs in {sorted(folders)}")
        self.assertEqual(wrong, [])

    def test_json_stays_out_of_headers(self):
        wrong = [str(path) for path, quote, name in includes() if path.suffix == ".h" and name.startswith("nlohmann/json.hpp")]
        self.assertEqual(wrong, [])

    def test_core_does_no_io(self):
        banned = re.compile(r"<(thread|mutex|fstream|iostream|chrono|ctime|filesystem|unistd\.h|fcntl\.h|sys/.*)>")
        wrong = [f"{path}: <{name}>" for path, quote, name in includes()
                 if path.parts[0] == "core" and quote == "<" and banned.fullmatch(f"<{name}>")]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
