"""``franchise evaluate``."""

from typing import Any

import click

from franchise.cli._input import reading_options
from franchise.cli._output import format_option, print_facts, print_frame

_METHODS = ("completion", "left-to-right", "paper")


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True), required=False)
@click.option(
    "--method",
    type=click.Choice(_METHODS),
    help="How to score: predict half of each document, or whole documents, or as the paper's program does.  "
    "[default: completion]",
)
@click.option(
    "--measure",
    type=click.Choice(["c_npmi", "u_mass"]),
    help="Which coherence to show without INPUT.  [default: c_npmi]",
)
@click.option(
    "--by-chain",
    is_flag=True,
    help="Score each chain by itself, and weigh the chains by what they predict (stacking).",
)
@reading_options
@click.option("--jobs", type=int, help="Number of threads; does not change the answer.  [default: all cores]")
@format_option
def command(
    model: str,
    input: str | None,
    method: str | None,
    measure: str | None,
    by_chain: bool,
    jobs: int | None,
    format_out: str,
    **values: Any,
) -> None:
    """Score the model in the folder MODEL on the held-out documents in INPUT.

    Without INPUT, show how well the top terms of each topic go together in the fitted documents, and how
    distinct the topics are. MODEL may also be a .bin file of the paper's program.

    Where chains have settled on different answers, --by-chain says which predict well: a chain without weight
    adds nothing to the others.

    \b
    Examples:
      franchise evaluate model/ heldout.txt
      franchise evaluate model/ heldout.txt --method left-to-right
      franchise evaluate model/ heldout.txt --by-chain
      franchise evaluate model/
    """
    if input is None and method is not None:
        raise click.UsageError("--method needs INPUT; leave it out, or give held-out documents")
    if input is None and by_chain:
        raise click.UsageError("--by-chain needs INPUT; leave it out, or give held-out documents")
    if by_chain and method == "paper":
        raise click.UsageError("--by-chain does not go with --method paper; leave out one of them")
    if input is not None and measure is not None:
        raise click.UsageError("--measure does not apply to INPUT; leave out one of them")
    if input is None:
        from franchise.cli._model import load

        print_frame(load(model).quality(measure or "c_npmi"), format_out)
        return
    method = method or "completion"
    from franchise._progress import Bar
    from franchise.cli._new import read_new

    topics, _, new = read_new(model, input, values)
    draws = [draw for chain in topics.chains for draw in chain.draws] if by_chain else topics.draws
    bar = Bar("scoring", None if method == "paper" else len(new.document_names) * len(draws))
    if by_chain:
        with bar:
            stacked = topics.stacked(new, method, jobs)
        print_frame(stacked.as_frame(), format_out, digits=4)
        if format_out == "table":
            click.echo(f"\nAll chains, equal weights  {stacked.pooled.per_word:.4f} nats per word")
            click.echo(f"All chains, these weights  {stacked.weighted.per_word:.4f}")
        return
    with bar:
        facts = _facts(topics.held_out(new, method, jobs))
    print_facts(facts | {"unknown words": int(new.unknown.sum())}, format_out)


def _facts(score: Any) -> dict[str, Any]:
    from franchise.predict.heldout import HeldOut

    if not isinstance(score, HeldOut):
        return {
            "method": "paper",
            "nats per word, with seats": round(score.per_word, 4),
            "words": score.n_words,
        }
    return {
        "method": score.method,
        "nats per word": round(score.per_word, 4),
        "standard error": round(score.standard_error, 4),
        "perplexity": round(score.perplexity, 1),
        "documents": score.n_documents,
        "words": score.n_words,
    }
