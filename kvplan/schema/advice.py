"""Whether to buy a tier at all: six questions, each with the numbers that decide it, and a verdict."""

from __future__ import annotations

from typing import Annotated, Literal

from kvplan.schema.base import Explained, Record

QuestionId = Literal["reuse", "context", "fleet", "latency", "recompute", "network"]
Answered = Literal["no", "partly", "yes"]
"""Whether the doubt that a question raises holds."""
Verdict = Literal["worth it", "marginal", "not worth it"]


class Answer(Record):
    """One doubt, whether it holds, and the two numbers that decide it; `need` is absent where no number is enough."""

    id: QuestionId
    question: str
    answer: Answered
    have: Annotated[float, Explained("unit", "what this request has, in the answer's own unit")]
    need: Annotated[float | None, Explained("unit", "what would dispel the doubt, in the answer's own unit")]
    unit: str
    text: str


class Advice(Record):
    """The verdict, and the answers that it follows from."""

    verdict: Verdict
    answers: tuple[Answer, ...]

    @property
    def deciding(self) -> tuple[Answer, ...]:
        """The doubts that made the verdict what it is; none when the tier is worth it."""
        worst: Answered = "yes" if self.verdict == "not worth it" else "partly"
        return tuple(answer for answer in self.answers if answer.answer == worst)
