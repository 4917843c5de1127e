package dev.hearth;

import java.util.ArrayList;
import java.util.List;

/** A device of this machine, usable or not. Immutable. */
public final class Device {
  private final byte[][] texts;
  private final int at;

  private Device(byte[][] texts, int at) {
    this.texts = texts;
    this.at = at;
  }

  /**
   * Lists the devices of all backends. Opens each driver, which takes up to a second.
   *
   * @return a new list
   */
  public static List<Device> list() {
    Native.require();
    byte[][] texts = Native.devices();
    List<Device> devices = new ArrayList<>();
    for (int at = 0; at + 7 <= texts.length; at += 7) devices.add(new Device(texts, at));
    return devices;
  }

  /**
   * Returns what the option {@code device} takes.
   *
   * @return for example {@code vulkan:0}
   */
  public String id() {
    return Native.text(texts[at]);
  }

  /**
   * Returns the name of its backend.
   *
   * @return {@code opencl}, {@code vulkan}, {@code gles} or {@code cpu}
   */
  public String backend() {
    return Native.text(texts[at + 1]);
  }

  /**
   * Returns its name.
   *
   * @return the driver's word for it
   */
  public String name() {
    return Native.text(texts[at + 2]);
  }

  /**
   * Returns its driver.
   *
   * @return name and version
   */
  public String driver() {
    return Native.text(texts[at + 3]);
  }

  /**
   * Returns its type.
   *
   * @return {@code cpu}, {@code integrated-gpu}, {@code discrete-gpu} or {@code other}
   */
  public String type() {
    return Native.text(texts[at + 4]);
  }

  /**
   * Returns why it is not usable.
   *
   * @return a sentence; empty for a usable one
   */
  public String reason() {
    return Native.text(texts[at + 5]);
  }

  /**
   * Returns whether it can be used.
   *
   * @return whether it can be used
   */
  public boolean isUsable() {
    return texts[at + 6].length > 0 && texts[at + 6][0] == '1';
  }

  /** Returns for example {@code vulkan:0 llvmpipe}. */
  @Override
  public String toString() {
    return id() + " " + (isUsable() ? name() : reason());
  }
}
