"""`ticopd schema` against a validator of its own: validate.py TICOPD TREE.

Every config that the program takes satisfies the schema; broken ones do not.
"""
import glob
import json
import subprocess
import sys
import tomllib

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: no python3-jsonschema 4 here")
    sys.exit(77)

program, tree = sys.argv[1], sys.argv[2]
schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)

VALID = {
    "nothing": "",
    "schedules": """
        [algorithm]
        alpha = { schedule = "inverse_sqrt", c = 1.0, t0 = 100 }
        theta = { schedule = "constant", c = 1 }
        eta = { schedule = "step", c = 0.1, factor = 0.5, every = 1000 }""",
    "whole numbers as floats": 'iterations = 5e4\n[problem]\nbatch = 1e2\nhidden = [2e1, 10]',
    "options of other kinds": '[codec]\nkind = "identity"\nbits = 4\nk = 3',
    "a search": """
        [tune]
        seeds = 3
        metric = "bits_to:accuracy_min=0.9"
        [tune.search]
        alpha = [0.1, 1]
        theta = { low = 0.1, high = 1 }
        eta = { schedule = "inverse", t0 = [1, 100] }
        warm_start = [true, false]
        "codec.bits" = [2, 4, 8]
        "codec.fraction" = { low = 0.01, high = 0.1 }
        graph.kind = ["ring", "torus"]""",
    "a list of seeds": "[tune]\nseeds = [1, 5, 9]",
    "a place": '[problem]\ndata = "libsvm:some/file"\ntest = "other"',
    "seeds and a sweep": """
        seeds = 5
        [sweep]
        mode = "zip"
        "codec.bits" = [1, 2]
        algorithm.eta = [0.1, { schedule = "constant", c = 1 }]
        [[run]]
        label = "a"
        seeds = [1, 7]
        sweep = {}""",
    "a choice": '[algorithm]\nname = "local_sgd"\neta = 0.1\naverage = "star"',
    "[[run]] without a name of the method": """
        [algorithm]
        name = "choco_sgd"
        [[run]]
        label = "a"
        algorithm = { eta = 0.1, gamma = 0.2 }
        codec.bits = 4""",
}

BROKEN = {
    "misspelt key": "iteratons = 5",
    "misspelt key in a table": "[codec]\nbitz = 4",
    "misspelt table": '[codecs]\nkind = "qsgd"',
    "wrong type": 'iterations = "many"',
    "a fraction where a whole number is needed": "iterations = 1.5",
    "out of range": '[codec]\nkind = "qsgd"\nbits = 17',
    "the open end of a range": "[codec]\np = 0",
    "no seed": "seeds = 0",
    "a seed twice": "seeds = [1, 1]",
    "a sweep without values": '[sweep]\n"codec.bits" = []',
    "a sweep of no list": '[sweep]\n"codec.bits" = 4',
    "unknown mode of a sweep": '[sweep]\nmode = "zap"',
    "unknown codec": '[codec]\nkind = "qsdg"',
    "unknown graph": '[graph]\nkind = "rign"',
    "unknown objective": '[problem]\nobjective = "mpl"',
    "unknown data format": '[problem]\ndata = "mnits"',
    "a format without its place": '[problem]\ndata = "csv"',
    "unknown algorithm": '[algorithm]\nname = "ticpod"',
    "parameter of another algorithm": '[algorithm]\nname = "dgd"\neta = 0.1\ntheta = 1',
    "misspelt parameter of the default algorithm": "[algorithm]\nalhpa = 0.1",
    "step size out of range": "[algorithm]\nalpha = -1",
    "unknown schedule": '[algorithm]\nalpha = { schedule = "linear", c = 1 }',
    "schedule without a part": '[algorithm]\nalpha = { schedule = "inverse", c = 1 }',
    "schedule for a constant": """
        [algorithm]
        name = "local_sgd"
        period = { schedule = "constant", c = 1 }""",
    "unknown choice": '[algorithm]\nname = "local_sgd"\naverage = "sun"',
    "a flag that is no boolean": "[algorithm]\nwarm_start = 1",
    "missing label": "[[run]]\nseed = 2",
    "misspelt key in a run": '[[run]]\nlabel = "a"\ncodec.bitz = 4',
    "misspelt parameter in a run": '[[run]]\nlabel = "a"\nalgorithm.alhpa = 1',
    "a list where a table is needed": "codec = [1]",
    "a target that is no number": '[report]\ntargets = { loss_max = "low" }',
    "a search that is no range": "[tune]\nsearch = { alpha = [1, 2, 3] }",
    "an empty list to search": '[tune.search]\n"codec.bits" = []',
    "no seeds": "[tune]\nseeds = 0",
    "negative layer": "[problem]\nhidden = [-1]",
}

wrong = []


def expect(fine, name, text):
    errors = [e.message for e in validator.iter_errors(tomllib.loads(text))]
    if fine and errors:
        wrong.append(f"{name}: refused: {errors[0][:200]}")
    if not fine and not errors:
        wrong.append(f"{name}: taken, but it is broken")


files = glob.glob(f"{tree}/experiments/*.toml")
if len(files) < 5:
    wrong.append(f"{len(files)} files in {tree}/experiments")
for file in files:
    with open(file) as f:
        expect(True, file, f.read())
for name, text in VALID.items():
    expect(True, name, text)
for name, text in BROKEN.items():
    expect(False, name, text)

methods = json.loads(
    subprocess.run([program, "list", "algorithms", "--json"], check=True, capture_output=True).stdout)
for method in methods:
    parts = [p["name"] for p in method["parameters"] if p["required"]]
    lines = [f'[algorithm]\nname = "{method["name"]}"'] + [f"{p} = 1" for p in parts]
    expect(True, method["name"], "\n".join(lines))
    for part in (p["name"] for p in method["parameters"]):
        expect(False, f"{method['name']}.{part} misspelt", "\n".join(lines + [f"{part}_ = 1"]))

print("\n".join(wrong) or f"{len(files)} files and {len(VALID)} configs fit, {len(BROKEN)} do not")
sys.exit(1 if wrong else 0)
