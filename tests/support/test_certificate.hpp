// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

/// A key and a certificate for `host` that signs itself, made for one test and trusted by nobody who is not
/// told to.
class TestCertificate {
 public:
  /// `days` < 0 makes one that ended.
  explicit TestCertificate(const std::string& host, int days = 1)
      : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), &EVP_PKEY_free),
        certificate_(X509_new(), &X509_free) {
    X509* const made = certificate_.get();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
    X509_gmtime_adj(X509_getm_notBefore(made), days < 0 ? days * 2 * 86400L : -3600L);
    X509_gmtime_adj(X509_getm_notAfter(made), days * 86400L);
    X509_set_pubkey(made, key_.get());
    X509_NAME* const name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(host.c_str()),
                               -1, -1, 0);
    X509_set_issuer_name(made, name);
    extend(NID_basic_constraints, "critical,CA:TRUE");
    extend(NID_subject_alt_name, "DNS:" + host);
    if (key_ == nullptr || X509_sign(made, key_.get(), EVP_sha256()) == 0)
      throw std::runtime_error("no certificate for a test");
  }

  /// What a server shows.
  [[nodiscard]] std::shared_ptr<SSL_CTX> server() const {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
    SSL_CTX_use_certificate(context.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context.get(), key_.get());
    return context;
  }
  /// What a client is told to trust.
  void write(const std::string& path) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw std::runtime_error("no file for a certificate");
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
  }

 private:
  void extend(int what, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};
