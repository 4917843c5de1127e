package dev.hearth;

import java.nio.charset.StandardCharsets;

/**
 * What went wrong, where, and what to do, in one sentence, with a code that says which kind of error it is.
 *
 * <p>Every method of this package throws it, also for misuse: a closed session, an array of the wrong size, a null.
 */
public final class HearthException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of errors. */
  public enum Code {
    /** No error; never thrown. */
    OK,
    /** The caller's mistake: a wrong name, index, size or option, or something that was closed. */
    INVALID_ARGUMENT,
    /** A model that breaks its format's rules. */
    MALFORMED_INPUT,
    /** A file or name that does not exist. */
    NOT_FOUND,
    /** Well-formed, but nothing here can run it. */
    UNSUPPORTED,
    /** The requested device or driver is not usable, or the native library is missing. */
    UNAVAILABLE,
    /** Memory, disk or a device's limit is exhausted. */
    RESOURCE_EXHAUSTED,
    /** The driver failed while running. */
    DEVICE_LOST,
    /** The operating system refused a read or write. */
    IO_ERROR,
    /** An internal error of Hearth. */
    INTERNAL
  }

  /** Which kind of error it is. */
  private final Code code;

  HearthException(Code code, String message) {
    super(message);
    this.code = code;
  }

  /** Called by native code: {@code hearth_status} and the message in UTF-8. */
  HearthException(int status, byte[] message) {
    this(
        status > 0 && status < Code.values().length ? Code.values()[status] : Code.INTERNAL,
        new String(message, StandardCharsets.UTF_8));
  }

  static HearthException invalid(String format, Object... arguments) {
    return new HearthException(Code.INVALID_ARGUMENT, String.format(format, arguments));
  }

  /**
   * Returns which kind of error it is.
   *
   * @return the kind
   */
  public Code code() {
    return code;
  }
}
