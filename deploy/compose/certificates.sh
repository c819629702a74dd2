#!/bin/sh
# Makes an authority and a certificate for servers, signed by it: certificates.sh FOLDER NAMES
# NAMES is a subjectAltName, such as DNS:n1,IP:127.0.0.1. What is there and good for 30 more days for the same names is
# kept. Each file is moved into its place when it is complete, the certificate last: run it again whenever it was stopped.
set -eu
umask 077
folder=$1
names=$2
mkdir -p "$folder"
work=$folder/.new
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT

cat >"$work/settings" <<SETTINGS
[req]
prompt = no
distinguished_name = name
x509_extensions = authority
[name]
CN = phaseline
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = $names
SETTINGS

good() { # CERTIFICATE KEY
    [ -f "$1" ] && [ -f "$2" ] && openssl x509 -checkend 2592000 -noout -in "$1" >/dev/null &&
        [ "$(openssl x509 -pubkey -noout -in "$1")" = "$(openssl pkey -pubout -in "$2")" ]
}

place() { # NAME MODE
    chmod "$2" "$work/$1"
    mv "$work/$1" "$folder/$1"
}

if ! good "$folder/ca.crt" "$folder/ca.key"; then
    rm -f "$folder/server.crt"
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/ca.key"
    openssl req -x509 -new -key "$work/ca.key" -sha256 -days 3650 -config "$work/settings" -out "$work/ca.crt"
    place ca.key 600
    place ca.crt 644
    echo "made ca.crt"
fi

if [ "$(cat "$folder/names" 2>/dev/null)" != "$names" ] || ! good "$folder/server.crt" "$folder/server.key" ||
    ! openssl verify -CAfile "$folder/ca.crt" "$folder/server.crt" >/dev/null; then
    rm -f "$folder/server.crt"
    openssl ecparam -name prime256v1 -genkey -noout -out "$work/server.key"
    openssl req -new -key "$work/server.key" -config "$work/settings" -subj "/CN=nats" -out "$work/server.csr"
    openssl x509 -req -in "$work/server.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial \
        -CAserial "$work/serial" -sha256 -days 825 -extfile "$work/settings" -extensions server -out "$work/server.crt" 2>/dev/null
    printf '%s' "$names" >"$work/names"
    place server.key 600
    place names 644
    place server.crt 644
    echo "made server.crt for $names"
fi
