"""Networks that keep something between runs: variables of a tf.Module."""

import tensorflow as tf
from networks import Input, network


@network(Input("x", [1, 4]), kind="module", runs=4)
def running_sum():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.total = tf.Variable(tf.zeros([1, 4]))

        def __call__(self, x):
            self.total.assign_add(x)
            return self.total * 2.0

    return Module()


@network(Input("x", [1, 4]), kind="module", runs=4)
def moving_average_from_a_start():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.mean = tf.Variable([[1.0, -2.0, 3.0, 0.5]])

        def __call__(self, x):
            before = self.mean.read_value()
            self.mean.assign(before * 0.9 + x * 0.1)
            return [before, x - self.mean]

    return Module()


@network(Input("x", [1, 2]), kind="module", runs=5)
def delay_line():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.past = tf.Variable(tf.zeros([1, 3, 2]))
            self.count = tf.Variable(0, dtype=tf.int32)

        def __call__(self, x):
            self.past.assign(tf.concat([self.past[:, 1:], x[:, None]], 1))
            self.count.assign_add(1)
            return [tf.reduce_sum(self.past, 1), self.count + 0]

    return Module()


@network(Input("x", [1, 3]), kind="module", runs=4)
def recurrent_cell_with_variables():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            random = tf.random.Generator.from_seed(3)
            self.state = tf.Variable(tf.zeros([1, 5]))
            self.weights = tf.Variable(random.normal([8, 5]), trainable=False)

        def __call__(self, x):
            self.state.assign(tf.tanh(tf.matmul(tf.concat([x, self.state], 1), self.weights)))
            return tf.identity(self.state)

    return Module()


@network(Input("x", [1, 1, 4]), kind="module", runs=4)
def key_value_cache():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.keys = tf.Variable(tf.zeros([1, 6, 4]))
            self.place = tf.Variable(0, dtype=tf.int32)

        def __call__(self, x):
            mask = tf.cast(tf.range(6) == self.place, tf.float32)[None, :, None]
            self.keys.assign(self.keys * (1.0 - mask) + x * mask)
            self.place.assign(tf.minimum(self.place + 1, 5))
            scores = tf.matmul(x, self.keys, transpose_b=True)
            return tf.matmul(tf.nn.softmax(scores), self.keys)

    return Module()


@network(Input("x", [1, 8]), kind="module", runs=4, quantizations=("float",))
def variables_that_a_loop_changes():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.sum = tf.Variable(tf.ones([1, 8]) * 0.5)
            self.turns = tf.Variable(0, dtype=tf.int32)

        def __call__(self, x):
            def body(y):
                self.sum.assign_add(y)
                self.turns.assign_add(1)
                return (y * 1.5,)

            y = tf.while_loop(lambda y: tf.reduce_sum(tf.abs(y)) < 50.0, body, (x,))[0]
            return [y, self.sum.read_value(), self.turns.read_value()]

    return Module()


@network(Input("x", [1, 8]), kind="module", runs=4, quantizations=("float",))
def variables_that_a_branch_changes():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(tf.ones([1, 8]) * 0.5)
            self.count = tf.Variable(0, dtype=tf.int32)

        def __call__(self, x):
            def above():
                self.scale.assign(self.scale * 2.0)
                return x + 1.0

            def below():
                self.count.assign_add(1)
                return x - 1.0

            y = tf.cond(tf.reduce_sum(x) > 0.0, above, below)
            return [y, self.scale.read_value(), self.count.read_value()]

    return Module()
