package dev.hearth;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Looks after a cache: what {@code hearth cache} does. Methods that return a text return a JSON object, whose keys
 * {@code tools/README.md} lists. Any thread; nothing is kept open.
 */
public final class Cache {
  private final byte[] folder;

  /** Opens the cache that sessions use by default. Touches no file. */
  public Cache() {
    this("");
  }

  /**
   * Opens the cache in a folder. Touches no file.
   *
   * @param folder the folder; empty: the one that sessions use by default
   */
  public Cache(String folder) {
    Native.require();
    this.folder = Native.cacheFolder(Native.bytes(folder, "the folder"));
  }

  /**
   * Returns the folder.
   *
   * @return its path
   */
  public String folder() {
    return Native.text(folder);
  }

  /**
   * Lists the entries.
   *
   * @return a JSON object
   */
  public String list() {
    return ask("list");
  }

  /**
   * Counts entries, bytes, hits and misses.
   *
   * @return a JSON object
   */
  public String stats() {
    return ask("stats");
  }

  /**
   * Lists the models whose sessions used the cache.
   *
   * @return a JSON object
   */
  public String models() {
    return ask("models");
  }

  /**
   * Reads everything.
   *
   * @param repair whether damaged entries are deleted and a damaged file is moved aside
   * @return a JSON object
   */
  public String verify(boolean repair) {
    return ask("verify", repair ? "1" : "");
  }

  /**
   * Checks the folder, the file, the disk and the environment's server. Changes nothing.
   *
   * @return a JSON object
   */
  public String examine() {
    return ask("examine");
  }

  /**
   * Deletes the longest unused entries.
   *
   * @param maxBytes how large the store may stay
   * @return a JSON object
   */
  public String prune(long maxBytes) {
    if (maxBytes < 0) throw HearthException.invalid("a cache cannot have %d bytes", maxBytes);
    return ask("prune", Long.toString(maxBytes));
  }

  /**
   * Deletes entries.
   *
   * @param kind only those of this kind ({@code program}, {@code plan}); empty: all
   * @param device only those of a device with this in its name or backend; empty: all
   * @return a JSON object
   */
  public String clear(String kind, String device) {
    return ask("clear", kind, device);
  }

  /**
   * Keeps a model's entries from being evicted, or no longer.
   *
   * @param model a file, the beginning of a fingerprint, or the path that the model had
   * @param isPinned whether they are kept
   */
  public void pin(String model, boolean isPinned) {
    ask("pin", model, isPinned ? "1" : "");
  }

  /**
   * Forgets a model and deletes the entries that no other model uses.
   *
   * @param model as for {@link #pin}
   * @return a JSON object
   */
  public String remove(String model) {
    return ask("remove", model);
  }

  /**
   * Says for each entry that a session would look up whether it is there and, if not, what differs.
   *
   * @param modelPath the model's file
   * @param options of the session
   * @return a JSON object
   */
  public String explain(String modelPath, Options options) {
    return ask("explain", Model.given(options).texts(), Collections.singletonList(modelPath));
  }

  /**
   * Starts a model on a device and stores what later starts need.
   *
   * @param modelPath the model's file
   * @param device a device, or {@code all}
   * @param options of the session
   * @return a JSON object, which also reports failures
   */
  public String warm(String modelPath, String device, Options options) {
    return ask("warm", Model.given(options).texts(), Arrays.asList(modelPath, device));
  }

  /**
   * Makes a bundle of all entries.
   *
   * @param bundle a file whose name ends in .tar, or a folder that is missing or empty
   * @param signWith file of a secret key; empty: not signed
   * @return a JSON object
   */
  public String exportTo(String bundle, String signWith) {
    return ask("export", bundle, signWith);
  }

  /**
   * Checks a bundle and stores its entries.
   *
   * @param bundle the file or folder
   * @param trustedKeys file of public keys; empty: none
   * @param isTrusted whether entries that none of them signed are accepted
   * @return a JSON object
   */
  public String importFrom(String bundle, String trustedKeys, boolean isTrusted) {
    return ask("import", bundle, trustedKeys, isTrusted ? "1" : "");
  }

  private String ask(String verb, String... arguments) {
    return ask(verb, new byte[0][], Arrays.asList(arguments));
  }

  private String ask(String verb, byte[][] options, List<String> arguments) {
    byte[] name = Native.bytes(verb, "the verb");
    return Native.text(Native.cache(folder, name, Native.bytes(arguments, "an argument of " + verb), options));
  }
}
