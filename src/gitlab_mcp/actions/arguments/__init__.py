"""From the arguments a model sent to one validated call, or to one failure that names every problem."""
