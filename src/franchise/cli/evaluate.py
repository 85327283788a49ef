"""``franchise evaluate``."""

from typing import Any

import click

from franchise.cli import _options as options
from franchise.cli._output import print_facts, print_frame


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True), required=False)
@options.option(
    "--method",
    "Score: the second half of each document given the first, whole documents, or what the paper's "
    "program prints",
    click.Choice(["completion", "left-to-right", "paper"]),
    show_default="completion",
)
@options.option(
    "--measure", "Coherence to show without INPUT", click.Choice(["c_npmi", "u_mass"]), show_default="c_npmi"
)
@options.option(
    "--by-chain", "Score of each chain, and its weight by what it predicts (stacking)", is_flag=True
)
@options.reading
@options.n_jobs
@options.printing
def command(
    model: str,
    input: str | None,
    method: str | None,
    measure: str | None,
    by_chain: bool,
    n_jobs: int,
    format: str,
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
    for name, value in (("--method", method), ("--by-chain", by_chain)):
        if input is None and value:
            raise click.UsageError(f"{name} needs INPUT; leave it out, or give held-out documents")
    if by_chain and method == "paper":
        raise click.UsageError("--by-chain does not go with --method paper; leave out one of them")
    if input is not None and measure is not None:
        raise click.UsageError("--measure does not apply to INPUT; leave out one of them")
    from franchise._progress import Bar
    from franchise.cli._model import load, load_topics, read_new

    if input is None:
        print_frame(load(model).quality(measure or "c_npmi"), format)
        return
    method = method or "completion"
    topics = load_topics(model)[0]
    new = read_new(input, topics, values)
    draws = [draw for chain in topics.chains for draw in chain.draws] if by_chain else topics.draws
    bar = Bar("scoring", None if method == "paper" else len(new.document_names) * len(draws))
    if by_chain:
        with bar:
            stacked = topics.stacked(new, method, n_jobs)
        print_frame(stacked.as_frame(), format, digits=4)
        if format == "table":
            click.echo(f"\nAll chains, equal weights  {stacked.pooled.per_word:.4f} nats per word")
            click.echo(f"All chains, these weights  {stacked.weighted.per_word:.4f}")
        return
    with bar:
        score: Any = topics.held_out(new, method, n_jobs)
    name = "nats per word, with seats" if method == "paper" else "nats per word"
    facts: dict[str, Any] = {"method": method, name: round(score.per_word, 4)}
    if method != "paper":
        facts["standard error"] = round(score.standard_error, 4)
        facts["perplexity"] = round(score.perplexity, 1)
        facts["documents"] = score.n_documents
    print_facts(facts | {"words": score.n_words, "unknown words": int(new.unknown.sum())}, format)
