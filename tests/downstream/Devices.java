import dev.hearth.Device;

/** Prints the devices, as a program that has only the package. */
public final class Devices {
  public static void main(String[] arguments) {
    Device.list().forEach(System.out::println);
  }
}
