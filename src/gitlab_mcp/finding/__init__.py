"""Which action does what somebody asks for in plain words? A search without a model and without the network."""
