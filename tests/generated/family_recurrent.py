"""Keras's recurrent layers, unrolled or as loops, masked or not, with fixed and open batch."""

import keras
import tensorflow as tf
from keras import layers as L
from networks import Input, image, network, sequence, tokens

LAYERS = {"lstm": L.LSTM, "gru": L.GRU, "simple_rnn": L.SimpleRNN}
FORMS = {
    "last": ({}, 1),
    "all": ({"return_sequences": True}, 1),
    "open_batch": ({}, None),
    "backwards": ({"go_backwards": True, "return_sequences": True}, 1),
    "unrolled": ({"unroll": True}, 1),
}


def _plain(layer, form):
    options, batch = FORMS[form]

    def build(x):
        return L.Dense(4)(LAYERS[layer](7, **options)(x))

    build.__name__, build.__module__ = f"{layer}_{form}", __name__
    network(sequence(batch=batch))(build)


for _layer in LAYERS:
    for _form in FORMS:
        _plain(_layer, _form)


def _masked(layer):
    def build(x):
        return L.Dense(3)(LAYERS[layer](6)(L.Embedding(20, 5, mask_zero=True)(x)))

    build.__name__, build.__module__ = f"{layer}_masked", __name__
    network(tokens(7, 20))(build)


def _bidirectional(layer, batch):
    def build(x):
        return L.Bidirectional(LAYERS[layer](5, return_sequences=True), merge_mode="concat")(x)

    build.__name__, build.__module__ = f"bidirectional_{layer}{'' if batch else '_open_batch'}", __name__
    network(sequence(6, 4, batch))(build)


for _layer in LAYERS:
    _masked(_layer)
    _bidirectional(_layer, 1)
_bidirectional("lstm", None)


@network(tokens(8, 30, batch=None))
def sentiment_open_batch(x):
    x = L.Bidirectional(L.LSTM(6))(L.Embedding(30, 8, mask_zero=True)(x))
    return L.Dense(1, activation="sigmoid")(x)


@network(sequence(10, 4))
def stacked_lstm(x):
    x = L.LSTM(6, return_sequences=True)(x)
    return L.Dense(2)(L.LSTM(5)(x))


@network(sequence(10, 4))
def stacked_gru_sum(x):
    x = L.Bidirectional(L.GRU(6, return_sequences=True), merge_mode="sum")(x)
    return L.GRU(5, return_sequences=True)(x)


@network(sequence(6, 4))
def gru_reset_before(x):
    return L.GRU(5, reset_after=False)(x)


@network(sequence(6, 4))
def lstm_other_activations(x):
    return L.LSTM(5, activation="relu", recurrent_activation="hard_sigmoid", use_bias=False)(x)


@network(sequence(6, 4), Input("h", [1, 5]), Input("c", [1, 5]))
def lstm_given_state(x, h, c):
    return list(L.LSTM(5, return_state=True)(x, initial_state=[h, c]))


@network(Input("frames", [1, 4, 8, 8, 2]))
def conv_lstm(x):
    return L.ConvLSTM2D(3, 3, padding="same", return_sequences=True)(x)


@network(Input("frames", [1, 3, 8, 8, 2]))
def conv_lstm_valid(x):
    return L.Dense(3)(L.Flatten()(L.ConvLSTM2D(4, (3, 2))(x)))


@network(Input("frames", [1, 4, 12, 12, 3]))
def time_distributed_cnn(x):
    x = L.TimeDistributed(L.Conv2D(4, 3, 2, activation="relu"))(x)
    return L.LSTM(4)(L.TimeDistributed(L.GlobalAveragePooling2D())(x))


@network(image(16, 1))
def ocr_crnn(x):
    x = L.MaxPooling2D((2, 1))(L.Conv2D(6, 3, padding="same", activation="relu")(x))
    x = L.Reshape((16, 48))(L.Permute((2, 1, 3))(x))
    x = L.Bidirectional(L.LSTM(6, return_sequences=True))(x)
    return L.Dense(11, activation="softmax")(x)


@network(sequence(8, 4))
def temporal_convolutions(x):
    for rate in (1, 2, 4):
        y = L.Conv1D(4, 2, padding="causal", dilation_rate=rate, activation="relu")(x)
        x = L.Add()([x, L.Conv1D(4, 1)(y)])
    return L.Dense(2)(L.GlobalAveragePooling1D()(x))


@network(sequence(8, 4))
def custom_cell(x):
    class Cell(keras.layers.Layer):
        state_size, output_size = 4, 4

        def __init__(self):
            super().__init__()
            self.dense = L.Dense(4)

        def call(self, inputs, states):
            state = tf.tanh(self.dense(inputs) + 0.5 * states[0])
            return state, [state]

    return L.RNN(Cell(), return_sequences=True)(x)
