package secrets_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// FuzzSealed checks that a sealed value opens in its place, and nowhere else or changed.
func FuzzSealed(f *testing.F) {
	f.Add([]byte("pass"), []byte("row 1"), uint16(0), byte(1))
	f.Add([]byte{}, []byte{}, uint16(24), byte(0x80))
	f.Add([]byte("\x00"), []byte("\x00"), uint16(40), byte(0xff))
	f.Fuzz(func(t *testing.T, plain, associated []byte, at uint16, bits byte) {
		k := ring(t, key(1))
		sealed := k.Seal(secrets.Sealing, plain, associated)
		if got, err := k.Open(secrets.Sealing, sealed, associated); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%x opens as %x, %v", plain, got, err)
		}
		changed, place := bytes.Clone(sealed), int(at)%len(sealed)
		changed[place] ^= bits | 1
		refused(t, k, changed, associated)
		refused(t, k, sealed[:place], associated)
		refused(t, k, append(bytes.Clone(sealed), bits), associated)
		refused(t, k, sealed, append(bytes.Clone(associated), bits))
	})
}

// refused wants a value not to open, with a reason that callers know.
func refused(t *testing.T, k *secrets.Keyring, sealed, associated []byte) {
	t.Helper()
	got, err := k.Open(secrets.Sealing, sealed, associated)
	if got != nil || !errors.Is(err, secrets.ErrTampered) && !errors.Is(err, secrets.ErrUnknownKey) {
		t.Fatalf("%x opens as %x, %v", sealed, got, err)
	}
}

// FuzzOpen checks that no bytes from elsewhere open.
func FuzzOpen(f *testing.F) {
	k, err := secrets.New(key(1), key(2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, []byte{})
	f.Add(k.CurrentPrefix(), []byte("row 1"))
	f.Add(append(k.CurrentPrefix(), make([]byte, 16)...), []byte{})
	f.Add(append(k.CurrentPrefix(), make([]byte, 40)...), []byte{})
	f.Fuzz(func(t *testing.T, sealed, associated []byte) {
		refused(t, k, sealed, associated)
		if k.Stale(sealed) == bytes.HasPrefix(sealed, k.CurrentPrefix()) && len(sealed) >= 25 {
			t.Fatalf("%x is stale: %t", sealed, k.Stale(sealed))
		}
	})
}

// FuzzParseKey checks that only 32 bytes in base64 are a platform key.
func FuzzParseKey(f *testing.F) {
	f.Add(base64.StdEncoding.EncodeToString(key(1)) + "\n")
	f.Add("hunter2")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := secrets.Parse(text)
		raw, unreadable := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if (err == nil) != (unreadable == nil && len(raw) == secrets.KeySize) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		sealed := k.Seal(secrets.Sealing, []byte("x"), nil)
		if got, err := k.Open(secrets.Sealing, sealed, nil); err != nil || string(got) != "x" {
			t.Fatalf("under the key %q: %q, %v", text, got, err)
		}
	})
}
