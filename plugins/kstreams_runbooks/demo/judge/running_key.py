"""Judges a key of a running count with a flaw record by record: one wrong record stays one fault.

Each record is judged by itself first, then in the chain of counts, where the sum must grow by the amount of the event:

- a record that is wrong by itself (unknown event, another customer's event, another amount, a count below 1) is
  extra, and leaves a gap;
- of records with equal content one is kept, the others are duplicate;
- after a gap, and after a record whose sum is wrong, the present sum is accepted and checked from there on;
- an event that is counted a second time under another count is duplicate, unless it sits in the slot of an event that
  is missing: then it is that record, altered, so extra;
- events never counted are missing.

Finally, records are out of order if their counts do not ascend (`ordering.displaced`). In an otherwise flawless key
they are also out of order if two events of one input partition were counted in another order than in that partition:
a Kafka Streams task forwards records of one partition in order.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from kstreams_runbooks.demo.judge.compact import NONE
from kstreams_runbooks.demo.judge.counts import Counts
from kstreams_runbooks.demo.judge.figures import FaultKind, Tally
from kstreams_runbooks.demo.judge.ordering import displaced

_VOTERS: Final = 3
"""Records that decide together from which sum a chain continues after a gap: they outvote one wrong record."""


class FlawedKey:
    """The records of one key (`rows`, in offset order) against its input events (`sources`)."""

    def __init__(self, collected: Counts, key: int, rows: Sequence[int], sources: Sequence[int]) -> None:
        self.collected = collected
        self.key = collected.customers.texts[key]
        self.number = key
        self.home = collected.customers.home(key, collected.partitions[collected.output])
        self.rows = rows
        self.sources = sources
        self.tally = Tally()
        self.accepted: list[int] = []
        self.times: Counter[int] = Counter()
        self.again: list[int] = []

    def judge(self) -> Tally:
        """Return what is wrong with the key."""
        by_count: defaultdict[int, list[int]] = defaultdict(list)
        for row in self._distinct(self._valid()):
            by_count[self.collected.running_count[row]].append(row)
        highest = self._chain(by_count)
        missing = self._missing()
        absent = max(0, highest - len(self.accepted))
        # a slot of an event that is also counted elsewhere, while another event is missing without a gap
        altered = min(len(self.again), max(0, len(missing) - absent))
        for place, row in enumerate(self.again):
            event = self._event_name(row)
            if place < altered:
                self._note("extra", row, f"event {event} is counted elsewhere; another event belongs here")
            else:
                self._note("duplicate", row, f"event {event} is counted a second time")
        for source in missing:
            self.tally.add("missing", self.key, self.home, None, self._source_name(source))
        self._order()
        return self.tally

    def _valid(self) -> list[int]:
        """Drop the records that are wrong by themselves."""
        collected, valid = self.collected, []
        for row in self.rows:
            event = collected.running_event[row]
            source = collected.row_of_event[event] if event < len(collected.row_of_event) else NONE
            if source == NONE:
                self._note("extra", row, f"no input has event {self._event_name(row)}")
            elif collected.customer[source] != self.number:
                self._note("extra", row, f"{self._source_name(source)} is of another customer")
            elif collected.amount[source] != collected.running_amount[row]:
                self._note("extra", row, f"amount {collected.running_amount[row]}, but {self._source_name(source)}")
            elif collected.running_count[row] < 1:
                self._note("extra", row, f"count {collected.running_count[row]}")
            else:
                valid.append(row)
        return valid

    def _distinct(self, rows: list[int]) -> list[int]:
        """Keep one record of each content: the one that fits between its neighbours, else the first."""
        collected = self.collected
        copies: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            content = (collected.running_count[row], collected.running_sum[row], collected.running_event[row])
            copies[content].append(place)
        dropped: set[int] = set()
        for places in copies.values():
            if len(places) > 1:
                kept = next((place for place in places if self._stands(rows, place)), places[0])
                dropped.update(place for place in places if place != kept)
        for place in sorted(dropped):
            self._note("duplicate", rows[place], f"count {collected.running_count[rows[place]]} is there again")
        return [row for place, row in enumerate(rows) if place not in dropped]

    def _stands(self, rows: list[int], place: int) -> bool:
        """Whether the nearest records with other counts are smaller before and larger after."""
        counts = self.collected.running_count
        own = counts[rows[place]]
        before = next((counts[rows[i]] for i in range(place - 1, -1, -1) if counts[rows[i]] != own), 0)
        after = next((counts[rows[i]] for i in range(place + 1, len(rows)) if counts[rows[i]] != own), own + 1)
        return before < own < after

    def _chain(self, by_count: dict[int, list[int]]) -> int:
        """Accept the records that chain by count and sum, ascending; return the highest slot of the chain."""
        collected = self.collected
        total = base = previous = highest = 0
        hint: int | None = None
        for count in sorted(by_count):
            rows = by_count[count]
            if count > len(self.sources) + len(self.again) and not any(map(self._counted, rows)):
                for row in rows:
                    self._note("extra", row, f"count {count}, but the key has {len(self.sources)} events")
                continue
            if count != previous + 1 or hint is not None:
                base = self._rebase(self._slots(by_count, count), total, base, hint)
            hint = None
            chosen = next((row for row in rows if self._residual(row, total) == base), None)
            for row in rows:
                if row != chosen:
                    total_of_row = f" with sum {collected.running_sum[row]}" if collected.has_amounts else ""
                    self._note("extra", row, f"count {count}{total_of_row} does not follow")
            if chosen is None:
                hint = base + collected.running_amount[rows[0]]
            else:
                self._accept(chosen)
                total += collected.running_amount[chosen]
            previous = highest = count
        return highest

    def _residual(self, row: int, total: int) -> int:
        """Return the part of a record's sum beyond the accepted amounts and its own."""
        return self.collected.running_sum[row] - total - self.collected.running_amount[row]

    def _rebase(self, slots: Sequence[Sequence[int]], total: int, base: int, hint: int | None) -> int:
        """Return the residual from which the chain continues: one that most of the next slots share.

        The hint wins if a record confirms it. Otherwise, between equals, a residual that differs from the one before
        the gap: the sum did grow by the missing amount, and a record whose count was altered kept its old one.
        """
        amounts = self.collected.running_amount
        best: tuple[bool, int, bool] | None = None
        found = base
        for first in slots[0]:
            after = total + amounts[first]
            candidates = [self._residual(first, total)]
            candidates += [self._residual(row, after) for row in (slots[1] if len(slots) > 1 else ())]
            for candidate in candidates:
                running, support = total, 0
                for place, rows in enumerate(slots):
                    own = [
                        row for row in ((first,) if place == 0 else rows) if self._residual(row, running) == candidate
                    ]
                    support += bool(own)
                    running += amounts[own[0] if own else first if place == 0 else rows[0]]
                rank = (candidate == hint and support > 0, support, candidate != base)
                if best is None or rank > best:
                    best, found = rank, candidate
        return found

    def _slots(self, by_count: dict[int, list[int]], count: int) -> list[list[int]]:
        """Return the records of the next few counts, as far as these follow each other; a few of each count."""
        slots: list[list[int]] = []
        while len(slots) < _VOTERS and count in by_count:
            slots.append(by_count[count][:_VOTERS])
            count += 1
        return slots

    def _accept(self, row: int) -> None:
        """Take a record into the chain; its event may have appeared before."""
        if self._counted(row):
            self.again.append(row)
        self.times[self.collected.running_event[row]] += 1
        self.accepted.append(row)

    def _counted(self, row: int) -> bool:
        """Whether the event of a record has been counted as often as the input has it."""
        event = self.collected.running_event[row]
        return self.times[event] > self.collected.repeats[event]

    def _missing(self) -> list[int]:
        """Return the input rows of this key that were counted too few times."""
        collected = self.collected
        left = Counter(self.times)
        missing = []
        for source in self.sources:
            event = collected.event[source]
            if left[event]:
                left[event] -= 1
            else:
                missing.append(source)
        return missing

    def _order(self) -> None:
        """Note records that are out of order: by count, and in a key without other faults by input offset."""
        collected = self.collected
        rows = sorted(self.accepted)
        for place in displaced([collected.running_count[row] for row in rows]):
            count = collected.running_count[rows[place]]
            self._note("out_of_order", rows[place], f"count {count} is out of order")
        if self.tally.counts.total() or any(collected.repeats[event] for event in self.times):
            return
        by_input: defaultdict[int, list[int]] = defaultdict(list)
        for row in rows:
            by_input[collected.partition[collected.row_of_event[collected.running_event[row]]]].append(row)
        for own in by_input.values():
            sources = [collected.row_of_event[collected.running_event[row]] for row in own]
            for place in displaced([collected.offset[source] for source in sources]):
                self._note("out_of_order", own[place], f"{self._source_name(sources[place])} was counted out of turn")

    def _note(self, kind: FaultKind, row: int, detail: str) -> None:
        collected = self.collected
        partition, offset = collected.running_partition[row], collected.running_offset[row]
        self.tally.add(kind, self.key, partition, offset, detail)

    def _event_name(self, row: int) -> str:
        return self.collected.events.texts[self.collected.running_event[row]]

    def _source_name(self, source: int) -> str:
        collected = self.collected
        place = collected.place(collected.source, collected.partition[source], collected.offset[source])
        amount = f" with amount {collected.amount[source]}" if collected.has_amounts else ""
        return f"event {collected.events.texts[collected.event[source]]} of {place}{amount}"
