#include "cache/trust/signature.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <system_error>

#include "cache/files/trusted_path.h"
#include "core/base/blocked_signal.h"
#include "core/base/descriptor.h"
#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "core/base/sha256.h"

#ifdef HEARTH_WITH_SODIUM
#include <sodium.h>
#endif

namespace hearth {
namespace {

#ifdef HEARTH_WITH_SODIUM

// The functions of libsodium, found at run time. Without the library only signatures are missing.
#define HEARTH_SODIUM_FUNCTIONS(X) \
  X(sodium_init)                   \
  X(randombytes_buf)               \
  X(crypto_sign_seed_keypair)      \
  X(crypto_sign_detached)          \
  X(crypto_sign_verify_detached)

struct SodiumApi {
#define HEARTH_DECLARE(name) decltype(&::name) name = nullptr;
  HEARTH_SODIUM_FUNCTIONS(HEARTH_DECLARE)
#undef HEARTH_DECLARE
};

Result<SodiumApi> LoadOnce() {
  // The system's library comes first, because it gets updates; then a wheel's own, below or beside the folder of the
  // code. The functions above are the same in both versions: 23 is Debian 12's, 26 began with libsodium 1.0.19.
  const std::string here = FolderOfThisCode();
  const std::string below = here + "/lib/libsodium.so.23", beside = here + "/../lib/libsodium.so.23";
  const char* const names[] = {"libsodium.so.23", "libsodium.so.26", below.c_str(), beside.c_str()};
  Result<DynamicLibrary> library = DynamicLibrary::Open(here.empty() ? std::span(names).first(2) : std::span(names));
  if (!library.ok()) return library.status().Within("signatures need libsodium");
  SodiumApi api;
#define HEARTH_FIND(name)                                                        \
  if (api.name = library->Symbol<decltype(&::name)>(#name); api.name == nullptr) \
    return Error(StatusCode::kUnavailable, "this libsodium lacks {}: update it", #name);
  HEARTH_SODIUM_FUNCTIONS(HEARTH_FIND)
#undef HEARTH_FIND
  if (api.sodium_init() < 0) return Error(StatusCode::kUnavailable, "libsodium has no source of random numbers");
  library->Leak();
  return api;
}

// The process's only table, opened and initialised by the first call and kept. kUnavailable, each time with the same
// message, if libsodium is not installed. Threads: any.
Result<const SodiumApi*> LoadSodium() {
  static const Result<SodiumApi> loaded = LoadOnce();
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

#endif

constexpr std::string_view kSecretWord = "hearth-ed25519-secret ";
constexpr std::string_view kPublicWord = "hearth-ed25519-public ";
constexpr off_t kMostKeyFileBytes = 1 << 20;

struct KeyFile {
  std::filesystem::path path;  // without links
  struct stat info;
};

// The file that a name leads to. Whoever can write there, or lead the way there, decides whose keys count.
Result<KeyFile> FindKeyFile(const std::filesystem::path& wanted) {
  KeyFile file;
  HEARTH_ASSIGN(file.path, TrustedPath(wanted, LastName::kFollowed));
  if (::lstat(file.path.c_str(), &file.info) != 0) {
    return Error(StatusCode::kIoError, "can't examine {}: {}", file.path.string(), std::strerror(errno));
  }
  // A pipe would block every start, and a device has no end.
  if (!S_ISREG(file.info.st_mode) || file.info.st_size > kMostKeyFileBytes) {
    return Error(StatusCode::kInvalidArgument, "{} is not a file of keys: {}", file.path.string(),
                 S_ISREG(file.info.st_mode) ? "it is too large" : "it is not a regular file");
  }
  return file;
}

bool IsPublicKeyFile(const std::filesystem::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && !line.starts_with('#')) return line.starts_with(kPublicWord);
  }
  return false;
}

// Every key in the file.
Result<std::vector<std::array<uint8_t, 32>>> ReadKeys(const std::filesystem::path& file, std::string_view word) {
  std::ifstream in(file);
  if (!in) return Error(StatusCode::kNotFound, "can't read the key file {}: {}", file.string(), std::strerror(errno));
  std::vector<std::array<uint8_t, 32>> keys;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(word) || !BytesFromHex(std::string_view(line).substr(word.size()), keys.emplace_back())) {
      return Error(StatusCode::kInvalidArgument, "line {} of {} is not '{}' and 64 hex digits", line_number,
                   file.string(), word.substr(0, word.size() - 1));
    }
  }
  if (keys.empty()) return Error(StatusCode::kInvalidArgument, "{} holds no key", file.string());
  return keys;
}

}  // namespace

Result<SigningKey> ReadSigningKey(const std::filesystem::path& file) {
  if (file.empty()) return Error(StatusCode::kInvalidArgument, "no file of a secret key is given: name one");
  const Result<KeyFile> found = FindKeyFile(file);
  if (!found.ok()) return found.status().Within("the secret key");
  // Before the mode: 'chmod 600' would not make a secret key of it.
  if (IsPublicKeyFile(found->path)) {
    return Error(StatusCode::kInvalidArgument,
                 "{} is a public key, which signs nothing: name the secret one, which `hearth cache key` made as the "
                 "same name without .pub",
                 file.string());
  }
  if (!IsOursOrRoots(found->info.st_uid)) {
    return Error(StatusCode::kIoError,
                 "the secret key {} belongs to user {}, who could replace it: use one of your own", file.string(),
                 found->info.st_uid);
  }
  if ((found->info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error(StatusCode::kIoError, "the secret key {} may be read or written by others: 'chmod 600' it",
                 file.string());
  }
  HEARTH_ASSIGN(const auto keys, ReadKeys(found->path, kSecretWord));
  return SigningKey{keys.front()};
}

Result<std::vector<PublicKey>> ReadPublicKeys(const std::filesystem::path& file) {
  if (file.empty()) {
    return Error(StatusCode::kInvalidArgument,
                 "no file of trusted keys is given: name one (--cache-server-keys, --keys)");
  }
  const Result<KeyFile> found = FindKeyFile(file);
  if (!found.ok()) return found.status().Within("the file of trusted keys");
  if (!IsOursOrRoots(found->info.st_uid) || OthersMayWrite(found->path, found->info)) {
    return Error(StatusCode::kIoError,
                 "other users may write to the file of trusted keys {}: make it yours and 'chmod go-w' it",
                 file.string());
  }
  return ReadKeys(found->path, kPublicWord);  // the path that was checked, not the one that was given
}

#ifdef HEARTH_WITH_SODIUM

bool HasSignatures() {
  return LoadSodium().ok();
}

static_assert(crypto_sign_SEEDBYTES == 32 && crypto_sign_PUBLICKEYBYTES == 32 && crypto_sign_BYTES == 64);

namespace {

struct KeyPair {
  PublicKey public_key;
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> secret_key;
};

Result<KeyPair> PairOf(const SigningKey& key) {
  HEARTH_ASSIGN(const SodiumApi* sodium, LoadSodium());
  KeyPair pair;
  sodium->crypto_sign_seed_keypair(pair.public_key.data(), pair.secret_key.data(), key.seed.data());
  return pair;
}

const unsigned char* Pointer(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Status WriteNewFile(const std::filesystem::path& file, mode_t mode, const std::string& text) {
  const BlockedSizeSignal held;
  const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  const ssize_t count = made.is_open() ? ::write(made.get(), text.data(), text.size()) : -1;
  if (count == static_cast<ssize_t>(text.size())) return Status::Ok();
  const int error = count < 0 ? errno : ENOSPC;
  if (made.is_open()) ::unlink(file.c_str());  // half a key would keep the next one from being made
  return Error(StatusCode::kIoError, "can't make the key file {}: {}", file.string(), std::strerror(error));
}

}  // namespace

Result<PublicKey> MakeSigningKey(const std::filesystem::path& wanted) {
  HEARTH_ASSIGN(const SodiumApi* sodium, LoadSodium());
  HEARTH_ASSIGN(const std::filesystem::path file, PlaceOfNewFile(wanted, "key file"));
  SigningKey key;
  sodium->randombytes_buf(key.seed.data(), key.seed.size());
  HEARTH_ASSIGN(const KeyPair pair, PairOf(key));
  HEARTH_TRY(WriteNewFile(file, 0600, fmt::format("{}{}\n", kSecretWord, HexOf(key.seed))));
  const Status status =
      WriteNewFile(file.string() + ".pub", 0644, fmt::format("{}{}\n", kPublicWord, HexOf(pair.public_key)));
  if (status.ok()) return pair.public_key;
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // a secret key without its public half is useless
  return status;
}

Result<PublicKey> PublicKeyOf(const SigningKey& key) {
  HEARTH_ASSIGN(const KeyPair pair, PairOf(key));
  return pair.public_key;
}

Result<Signature> Sign(const SigningKey& key, std::span<const std::byte> message) {
  HEARTH_ASSIGN(const KeyPair pair, PairOf(key));
  HEARTH_ASSIGN(const SodiumApi* sodium, LoadSodium());
  Signature signature;
  sodium->crypto_sign_detached(signature.data(), nullptr, Pointer(message), message.size(), pair.secret_key.data());
  return signature;
}

Result<std::optional<PublicKey>> SignerOf(std::span<const std::byte> message, const Signature& signature,
                                          std::span<const PublicKey> trusted) {
  HEARTH_ASSIGN(const SodiumApi* sodium, LoadSodium());
  for (const PublicKey& key : trusted) {
    if (sodium->crypto_sign_verify_detached(signature.data(), Pointer(message), message.size(), key.data()) == 0) {
      return std::optional<PublicKey>(key);
    }
  }
  return std::optional<PublicKey>();
}

#else

namespace {

Status LeftOut() {
  return Error(StatusCode::kUnsupported, "this build of Hearth has no signatures: build with HEARTH_WITH_SODIUM");
}

}  // namespace

bool HasSignatures() {
  return false;
}
Result<PublicKey> MakeSigningKey(const std::filesystem::path&) {
  return LeftOut();
}
Result<PublicKey> PublicKeyOf(const SigningKey&) {
  return LeftOut();
}
Result<Signature> Sign(const SigningKey&, std::span<const std::byte>) {
  return LeftOut();
}
Result<std::optional<PublicKey>> SignerOf(std::span<const std::byte>, const Signature&, std::span<const PublicKey>) {
  return LeftOut();
}

#endif

}  // namespace hearth
