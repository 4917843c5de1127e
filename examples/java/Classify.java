import dev.hearth.ElementType;
import dev.hearth.Options;
import dev.hearth.Session;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import javax.imageio.ImageIO;

/** Classifies a photograph: java -cp hearth.jar Classify.java MODEL.tflite PICTURE LABELS.txt [DEVICE]. */
public final class Classify {
  public static void main(String[] arguments) throws IOException {
    if (arguments.length < 3) throw new IllegalArgumentException("Classify MODEL.tflite PICTURE LABELS.txt [DEVICE]");
    Options options = new Options().set("device", arguments.length > 3 ? arguments[3] : "auto");
    options.set("top_k", 1); // the best score and its place, in place of all scores
    try (Session session = Session.open(arguments[0], options)) {
      if (session.inputs().get(0).type() != ElementType.FLOAT32)
        throw new IllegalArgumentException(arguments[0] + " takes " + session.inputs().get(0) + ": name a float model");
      int[] shape = session.inputs().get(0).shape(); // [1, height, width, 3]
      BufferedImage picture = resized(ImageIO.read(new File(arguments[1])), shape[2], shape[1]);
      ByteBuffer input = session.newInput(0); // which the session reads where it is
      for (int y = 0; y < shape[1]; ++y) {
        for (int x = 0; x < shape[2]; ++x) {
          int rgb = picture.getRGB(x, y);
          for (int shift = 16; shift >= 0; shift -= 8) input.putFloat((rgb >> shift & 255) / 127.5f - 1);
        }
      }
      input.clear();

      float[] score = new float[1];
      int[] best = new int[1];
      session.run(Arrays.asList(input), Arrays.asList(score, best));
      System.out.printf("%.2f %s%n", score[0], Files.readAllLines(Paths.get(arguments[2])).get(best[0]));
    }
  }

  private static BufferedImage resized(BufferedImage picture, int width, int height) {
    BufferedImage small = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = small.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
    graphics.drawImage(picture, 0, 0, width, height, null);
    graphics.dispose();
    return small;
  }
}
