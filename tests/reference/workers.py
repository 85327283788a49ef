"""Workers of a cluster in this process, one after another, and some that are lost now and then."""

from franchise.engines.pools.worker import Worker, WorkersLostError
from franchise.engines.pools.workers import Workers


class WorkersHere(Workers):
    """Workers in this process, to see that nothing depends on who works."""

    def __init__(self, corpus, number, threads=1, kind="host"):
        super().__init__(corpus, number)
        self._threads, self._kind = threads, kind
        self.workers = [None] * self.size
        self.use(self.replace_lost())

    def call(self, generation, what, arguments):
        with self.lock:
            workers = list(self.workers)
            if generation != self.generation or None in workers:
                raise WorkersLostError
        return [getattr(worker, what)(*own) for worker, own in zip(workers, arguments)]

    def share(self, value):
        return value

    def replace_lost(self):
        workers = []
        for worker, job in zip(self.workers, self.jobs, strict=True):
            if worker is None:
                worker = Worker(self._threads, self._kind)
                worker.load(job, self.size == 1)
            workers.append(worker)
        return workers

    def use(self, workers):
        self.workers = list(workers)


class Unreliable(WorkersHere):
    """Loses a worker in certain calls: before it has done its work, or after."""

    def __init__(self, *arguments, lose=(), after=False):
        self._lose, self._after, self.calls, self.lost = set(lose), after, 0, 0
        super().__init__(*arguments)

    def call(self, generation, what, arguments):
        self.calls += 1
        loses = self.calls in self._lose
        if loses and not self._after:
            self._drop()
        answers = super().call(generation, what, arguments)
        if loses:
            self._drop()
            raise WorkersLostError
        return answers

    def _drop(self):
        self.workers[self.calls % self.size] = None
        self.lost += 1
