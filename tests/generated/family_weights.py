"""Networks whose weights ai-edge-quantizer makes narrow: 8, 4 or 2 bits, with scales for channels or blocks, or rotated."""

import keras
from keras import layers as L
from networks import Input, image, network, tokens

CHANNELS = ("float", "weights8", "weights4", "weights2")
BLOCKS = (*CHANNELS, "blocks4", "rotated8")  # every product is over a multiple of 32 numbers


@network(tokens(), quantizations=BLOCKS)
def narrow_decoder(x):
    x = L.Embedding(50, 64)(x)
    y = L.LayerNormalization()(x)
    x = L.Add()([x, L.MultiHeadAttention(2, 32)(y, y, use_causal_mask=True)])
    x = L.Add()([x, L.Dense(64)(L.Dense(128, activation="gelu")(L.LayerNormalization()(x)))])
    return L.Dense(50)(L.LayerNormalization()(x))


@network(Input("x", [2, 96]), quantizations=BLOCKS)
def narrow_perceptron(x):
    x = L.Dense(64, activation="relu")(x)
    return L.Dense(7)(L.Dense(32, activation="tanh")(x))


@network(image(), quantizations=CHANNELS)
def narrow_convolutions(x):
    x = L.Conv2D(8, 3, 2, activation="relu6")(x)
    x = L.DepthwiseConv2D(3, padding="same", activation=keras.activations.hard_swish)(x)
    x = L.Conv2D(12, 1, activation="relu")(x)
    return L.Dense(5)(L.GlobalAveragePooling2D()(x))
