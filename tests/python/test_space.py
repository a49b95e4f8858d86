# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest

import kernelsearch as ks


def test_counts_are_those_of_enumeration():
    space = ks.Space({"a": range(1, 9), "b": [1, 2, 4, 8], "c": [False, True]}, ["a * b <= 16", "c or a > 2"])
    by_hand = [(a, b, c) for a in range(1, 9) for b in (1, 2, 4, 8) for c in (False, True) if a * b <= 16 and (c or a > 2)]
    assert space.count == len(space) == len(by_hand) and space.raw_count == 64
    assert sorted(tuple(c.values()) for c in space) == sorted(by_hand)


def test_functions_are_constraints_by_their_parameters():
    text = ks.Space({"a": range(10), "b": range(10)}, ["a + b < 7", "a % 2 == 0"])
    code = ks.Space({"a": range(10), "b": range(10)}, [lambda b, a: a + b < 7, (("a",), lambda x: x % 2 == 0)])
    assert list(text) == list(code) and text.checksum() == code.checksum()
    assert code.constraints == ["<lambda>", "<lambda>"] and text.constraints == ["a + b < 7", "a % 2 == 0"]
    assert ks.Space({"a": range(10)}, lambda a: a > 7).count == 2  # one alone


def test_names_inside_a_function_are_no_tunables():
    def below(a, b):
        total = a + b
        return total < 7

    assert ks.Space({"a": range(10), "b": range(10)}, [below]).count == ks.Space({"a": range(10), "b": range(10)}, ["a + b < 7"]).count


def test_what_a_function_raises_comes_through():
    def broken(a):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ks.Space({"a": range(3)}, [broken])
    with pytest.raises(TypeError, match="which tunables"):
        ks.Space({"a": range(3)}, [lambda *a: True])
    with pytest.raises(TypeError, match="a constraint is an expression"):
        ks.Space({"a": range(3)}, [7])


def test_counts_beyond_64_bits_are_ints():
    space = ks.Space({f"x{i}": range(1000) for i in range(12)})
    assert space.count == 10**36 and space
    with pytest.raises(OverflowError, match="Space.count"):
        len(space)
    last = {f"x{i}": 999 for i in range(12)}
    assert space[space.rank(last)] == last and space[-1] == space[10**36 - 1]
    with pytest.raises(IndexError):
        space[10**36]
    ranks = [0, 1, 2**64 - 1, 2**64, 10**18, 10**35 + 7]
    assert [space.rank(space[r]) for r in ranks] == ranks


def test_values_keep_their_types():
    space = ks.Space({"i": [1, 3], "f": [0.5, 2.0], "b": [False, True], "s": ["x", "y"], "p": ks.permutation(3)})
    config = space[5]
    assert [type(v) for v in config.values()] == [int, float, bool, str, tuple]
    assert space.kinds == {"i": "integer", "f": "floating", "b": "boolean", "s": "categorical", "p": "permutation"}
    assert space.values["b"] == (False, True) and space.names == ("i", "f", "b", "s", "p")
    assert all(type(v) is bool for v in space.values["b"])  # bool before int


def test_numpy_scalars_are_values():
    space = ks.Space({"i": np.array([1, 2, 4]), "f": np.linspace(0, 1, 3), "b": np.array([False, True])})
    assert [type(v) for v in space.default.values()] == [int, float, bool]
    assert {"i": np.int32(4), "f": np.float64(0.5), "b": np.bool_(True)} in space
    assert {"i": np.float32(4), "f": 1, "b": 0} in space  # numbers equal in value
    assert {"i": 3, "f": 0.5, "b": True} not in space
    order = ks.Space({"p": [(0, 1, 2), (2, 0, 1)]})
    assert {"p": [2, 0, 1]} in order and {"p": np.array([2, 0, 1])} in order and {"p": (1, 0, 2)} not in order


@pytest.mark.parametrize("value", [object(), None, 1j, b"x", [1, 2, 7], {"a": 1}, [0.5, 1.5]])
def test_what_cannot_be_carried_over_is_a_type_error(value):
    with pytest.raises(TypeError, match="`a`.*give|`a`.*list can only"):
        ks.Space({"a": [value]})


def test_errors_say_what_to_do():
    with pytest.raises(OverflowError, match="64 bits"):
        ks.Space({"a": [2**63]})
    with pytest.raises(TypeError, match="are a str; give a list"):
        ks.Space({"a": "xyz"})
    with pytest.raises(ks.ConfigError, match="a > 5"):
        ks.Space({"a": [1, 2]}, ["a > 5"])
    with pytest.raises(ValueError, match="an unknown tunable.*'b'"):  # a ConfigError is a ValueError
        ks.Space({"a": [1, 2]}, defaults={"b": 1})
    space = ks.Space({"a": [1, 2], "b": [1, 2]}, ["a + b < 4"])
    with pytest.raises(ks.ConfigError, match="it has no `b`"):
        space.key({"a": 1})
    with pytest.raises(ks.ConfigError, match="no tunable 'c'"):
        space.key({"a": 1, "b": 1, "c": 1})
    with pytest.raises(ks.ConfigError, match="`a` has no value 7"):
        space.key({"a": 7, "b": 1})
    with pytest.raises(ks.ConfigError, match="constraint forbids"):
        space.neighbours({"a": 2, "b": 2})
    with pytest.raises(TypeError, match="a configuration is a dict"):
        [1, 2] in space
    assert {"a": 2, "b": 2} not in space and {"a": 1} not in space and {"a": 1, "b": 1, "c": 1} not in space


def test_neighbours_nearest_and_defaults():
    space = ks.Space({"a": [1, 2, 4], "b": ["x", "y"]}, ["a < 4 or b == 'y'"], defaults={"a": 2}, active_if={"b": "a > 1"})
    assert space.default == {"a": 2, "b": "x"} and {"a": 1, "b": "y"} not in space
    assert space.neighbours({"a": 2, "b": "y"}) == [{"a": 4, "b": "y"}, {"a": 2, "b": "x"}]
    plain = ks.Space({"a": range(5), "b": range(3)})
    assert len(plain.neighbours({"a": 2, "b": 0})) == 6 and len(plain.neighbours({"a": 2, "b": 0}, "adjacent")) == 3
    assert ks.Space({"a": range(5)}, ["a != 3"]).nearest({"a": 3}) in ({"a": 2}, {"a": 4})
    with pytest.raises(ks.ConfigError, match="there are hamming, adjacent"):
        plain.neighbours({"a": 2, "b": 0}, "far")


def test_samples_follow_their_seed(space):
    assert space.sample(20, seed=3) == space.sample(20, seed=3) != space.sample(20, seed=4)
    assert all(config in space for config in space.sample(100))


def test_positions(space):
    configs = space.sample(7)
    positions = space.encode(configs)
    assert positions.shape == (7, 3) and positions.dtype == np.uint32
    assert space.decode(positions) == configs
    with pytest.raises(ks.ConfigError, match="one for each tunable: 3"):
        space.decode(positions[:, :2].copy())
    with pytest.raises(ks.ConfigError, match="no value at that position"):
        space.decode(positions + np.uint32(100))


def test_spaces_of_files(source, tmp_path):
    space = ks.Space.from_problem(source / "examples/host/matmul")
    assert space.count > 1 and space.default in space
    with pytest.raises(ks.ConfigError, match="problem.json"):
        ks.Space.from_problem(tmp_path)
    file = tmp_path / "x.t1.json"
    file.write_text(
        '{"General": {"BenchmarkName": "x"}, "ConfigurationSpace": {"TuningParameters": ['
        '{"Name": "A", "Type": "int", "Values": "[1, 2, 4]", "Default": 1}, {"Name": "B", "Type": "int", "Values": "[1, 2]", "Default": 1}],'
        '"Conditions": [{"Parameters": ["A", "B"], "Expression": "A * B < 8"}]},'
        '"KernelSpecification": {"Language": "CUDA", "KernelName": "x", "KernelFile": "x.cu"}}'
    )
    assert ks.Space.from_t1(file).count == 5
    listed = ks.Space.listed({"a": [1, 2], "b": [1, 2]}, [{"a": 1, "b": 2}, {"a": 2, "b": 1}])
    assert listed.count == 2 and {"a": 1, "b": 1} not in listed


def test_lists_of_values():
    assert ks.powers_of_two(4, 32) == [4, 8, 16, 32] and len(ks.permutation(4)) == 24 and ks.permutation(2)[0] == (0, 1)
    for wrong in (lambda: ks.powers_of_two(3, 8), lambda: ks.powers_of_two(8, 4), lambda: ks.permutation(9)):
        with pytest.raises(ValueError, match="give"):
            wrong()
