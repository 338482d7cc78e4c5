#!/usr/bin/python3
"""The shard plan in Python: that of `stage`, bit for bit; and what its samplers promise."""

import json
import os
import random
import shutil

import sabath
from sabath import Plan, RankSampler
from support import program
from support.case import main
from support.package import ROUNDS, PackageCase
from support.program import WITHOUT_LEAKS
from support.ranks import why_not

SETTINGS = 200 * ROUNDS
SEED = int(os.environ.get("SABATH_SEED", random.SystemRandom().randrange(1 << 32)))
PUBLISHED = [
    5,
    4,
    0,
    3,
    6,
    3,
    5,
    1,
    1,
    3,
]  # the shares of the first ten of a hundred files, seed 42, 7 shares: tests/unit/door/asset_test.cc


def settings(generator):
    files, ranks = generator.randrange(1, 300), generator.randrange(1, 40)
    return {
        "lengths": None if generator.random() < 0.5 else [generator.randrange(1, 6) for _ in range(files)],
        "files": files,
        "ranks": min(ranks, files),
        "overlap": generator.choice((1, 1, 2, 3, 50)),
        "batch_size": generator.randrange(1, 17),
        "seed": generator.randrange(1 << 64),
        "epoch": generator.randrange(100),
        "shuffle": generator.random() < 0.8,
    }


class Plans(PackageCase):
    def test_it_is_the_published_one(self):
        plan = Plan([f"train/{number}.h5" for number in range(100)], 7, seed=42)
        owner = {index: rank for rank in range(7) for index in plan.owned(rank)}
        self.assertEqual([owner[index] for index in range(10)], PUBLISHED)
        with self.assertRaises(sabath.UsageError):
            Plan(["a"], 0)
        with self.assertRaises(sabath.UsageError):
            Plan(["a\0b"], 1)
        self.assertEqual([Plan([], 3).files(rank) for rank in range(3)], [[], [], []])

    def test_it_is_that_of_stage(self):
        reason = why_not()
        if reason or not shutil.which("mpirun"):
            self.skipTest(reason or "there is no mpirun")
        self.many(60, lambda number: b"%d" % number)
        os.environ.update(WITHOUT_LEAKS, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "3"]
        for overlap in (1, 2, 3):
            to = self.home / f"node{overlap}"
            self.session.stage("many", to=to, launcher=launcher, mode="shard", per_rank=True, seed=9, overlap=overlap)
            told = json.loads((to / "many.plan.json").read_text())
            files = self.session.fetch("many").files
            plan = Plan(files.paths(), 3, seed=9, overlap=overlap)
            self.assertEqual([plan.files(rank) for rank in range(3)], told["files"])
            read = Plan.read(to / "many.plan.json")
            self.assertEqual((read.paths, read.overlap, [read.owned(rank) for rank in range(3)]),
                             (plan.paths, overlap, [plan.owned(rank) for rank in range(3)]))  # fmt: skip
            told["files"][0].pop()
            (self.home / "torn.json").write_text(json.dumps(told))
            with self.assertRaises(sabath.Invalid):
                Plan.read(self.home / "torn.json")
        for text in ("", "[]", "{}", '{"files": 3}', '{"files": [[1]], "seed": 0, "overlap": 1}'):
            (self.home / "torn.json").write_text(text)
            with self.assertRaises(sabath.Invalid, msg=text):
                Plan.read(self.home / "torn.json")

    def test_the_union_of_all_ranks_is_the_data_set(self):
        generator = random.Random(SEED)
        for _ in range(SETTINGS):
            drawn = settings(generator)
            self.check(drawn)

    def check(self, drawn):
        paths = [f"d{number % 7}/{number}" for number in range(drawn["files"])]
        plan = Plan(paths, drawn["ranks"], drawn["seed"], drawn["overlap"])
        lengths = drawn["lengths"]
        total = sum(lengths) if lengths else len(paths)
        options = {"batch_size": drawn["batch_size"], "lengths": lengths, "shuffle": drawn["shuffle"], "seed": drawn["seed"]}
        samplers = [RankSampler(plan, rank, **options) for rank in range(drawn["ranks"])]
        message = f"SABATH_SEED={SEED}: {drawn}"
        read = [sampler.samples(drawn["epoch"]) for sampler in samplers]
        self.assertEqual({len(samples) for samples in read}, {len(samplers[0])}, message)
        self.assertEqual(len(samplers[0]) % drawn["batch_size"], 0, message)
        self.assertEqual(set().union(*read), set(range(total)), message)
        for rank, samples in enumerate(read):
            held = set(plan.held(rank))
            self.assertTrue(all(samplers[rank].place(sample)[0] in held for sample in samples), message)
        own = [set(samples) for samples in read]
        self.assertEqual(sum(map(len, own)), total, f"each sample is read by one rank: {message}")
        short = [RankSampler(plan, rank, short="drop", **options) for rank in range(drawn["ranks"])]
        dropped = [sampler.samples(drawn["epoch"]) for sampler in short]
        self.assertEqual({len(samples) for samples in dropped}, {len(short[0])}, message)
        everything = [sample for samples in dropped for sample in samples]
        self.assertEqual(len(everything), len(set(everything)), message)

    def test_epochs_differ_and_an_epoch_goes_on_in_its_middle(self):
        plan = Plan([str(number) for number in range(1000)], 4, seed=1, overlap=2)
        sampler = RankSampler(plan, 1, batch_size=8, seed=5)
        first = list(sampler)
        self.assertEqual((sampler.epoch, sampler.position), (1, 0))
        second = list(sampler)
        self.assertNotEqual(first, second)
        self.assertEqual(set(first) | set(second), {int(path) for path in plan.files(1)}, "by and by all that it has")
        again = RankSampler(plan, 1, batch_size=8, seed=5)
        again.set_epoch(1)
        self.assertEqual(list(again), second)
        self.assertNotEqual(RankSampler(plan, 1, batch_size=8, seed=6).samples(0), first)
        going = iter(sampler)
        begin = [next(going) for _ in range(24)]
        state = json.loads(json.dumps(sampler.state_dict()))
        fresh = RankSampler(plan, 1, batch_size=8, seed=5)
        fresh.load_state_dict(state)
        self.assertEqual(begin + list(fresh), sampler.samples(2))
        fresh.load_state_dict(sampler.state_dict(consumed=16))
        self.assertEqual(begin[:16] + list(fresh), sampler.samples(2))
        for other in (RankSampler(plan, 1, batch_size=4, seed=5), RankSampler(Plan(plan.paths, 5, seed=1), 1, 8, seed=5)):
            with self.assertRaises(sabath.UsageError):
                other.load_state_dict(state)
        with self.assertRaises(sabath.UsageError):
            fresh.load_state_dict({**state, "position": 10_000})

    def test_what_cannot_be_is_refused(self):
        plan = Plan(["a", "b"], 3)
        for refused in ({"rank": 3}, {"rank": -1}, {"rank": 0, "batch_size": 0}, {"rank": 0, "lengths": [1]}, {"rank": 0}):
            with self.assertRaises(sabath.UsageError, msg=refused):
                RankSampler(plan, **refused)
        self.assertEqual(len(RankSampler(plan, 0, short="drop")), 0)
        with self.assertRaises(sabath.UsageError):
            plan.only(["c"])
        self.assertTrue(program.BINARY)


if __name__ == "__main__":
    main()
