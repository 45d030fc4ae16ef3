package secrets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// key makes a platform key of one repeated byte.
func key(b byte) []byte { return bytes.Repeat([]byte{b}, secrets.KeySize) }

// ring is secrets.New for valid keys; an error ends the test.
func ring(t *testing.T, current []byte, previous ...[]byte) *secrets.Keyring {
	t.Helper()
	k, err := secrets.New(current, previous...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSeal_OpensOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	k := ring(t, key(1))
	sealed := k.Seal(secrets.Sealing, []byte("pass"), []byte("row 1"))
	got, err := k.Open(secrets.Sealing, sealed, []byte("row 1"))
	if err != nil || string(got) != "pass" {
		t.Fatalf("have %q, %v", got, err)
	}
	if _, err := k.Open(secrets.Sealing, sealed, []byte("row 2")); !errors.Is(err, secrets.ErrTampered) {
		t.Errorf("another row: %v", err)
	}
	if _, err := k.Open(secrets.Wrapping, sealed, []byte("row 1")); !errors.Is(err, secrets.ErrTampered) {
		t.Errorf("another purpose: %v", err)
	}
	if bytes.Equal(sealed, k.Seal(secrets.Sealing, []byte("pass"), []byte("row 1"))) {
		t.Error("the same text was sealed to the same bytes twice")
	}
}

func TestOpen_EveryChangedByteIsRefused(t *testing.T) {
	t.Parallel()
	k := ring(t, key(1))
	sealed := k.Seal(secrets.Sealing, []byte("pass"), nil)
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := k.Open(secrets.Sealing, bad, nil); err == nil {
			t.Errorf("byte %d may be changed", i)
		}
		if _, err := k.Open(secrets.Sealing, sealed[:i], nil); err == nil {
			t.Errorf("may be cut to %d bytes", i)
		}
	}
}

func TestKeyring_RotationOpensTheOldAndSealsWithTheNew(t *testing.T) {
	t.Parallel()
	before, after := ring(t, key(1)), ring(t, key(2), key(1))
	old := before.Seal(secrets.Sealing, []byte("x"), nil)
	if got, err := after.Open(secrets.Sealing, old, nil); err != nil || string(got) != "x" || !after.Stale(old) {
		t.Errorf("old value: %q, %v, stale %v", got, err, after.Stale(old))
	}
	fresh := after.Seal(secrets.Sealing, []byte("x"), nil)
	if after.Stale(fresh) || !bytes.HasPrefix(fresh, after.CurrentPrefix()) {
		t.Error("a fresh value is stale")
	}
	if _, err := before.Open(secrets.Sealing, fresh, nil); !errors.Is(err, secrets.ErrUnknownKey) {
		t.Errorf("without the new key: %v", err)
	}
}

func TestDerive_PurposesDiffer(t *testing.T) {
	t.Parallel()
	a, b := secrets.Derive(key(1), secrets.Claims), secrets.Derive(key(1), secrets.Cursors)
	if bytes.Equal(a, b) || !bytes.Equal(a, secrets.Derive(key(1), secrets.Claims)) || len(a) != secrets.KeySize {
		t.Error("derived keys are not one per purpose")
	}
}

func TestParse_RefusesWrongSizesWithoutShowingThem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hunter2!", base64.StdEncoding.EncodeToString([]byte("short"))} {
		if _, err := secrets.Parse(text); err == nil || (text != "" && strings.Contains(err.Error(), text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := secrets.Parse(base64.StdEncoding.EncodeToString(key(3)) + "\n"); err != nil {
		t.Error(err)
	}
}

func TestLoadOrCreate_ProgramsThatStartTogetherAgree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	rings := make([]*secrets.Keyring, 8)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			var err error
			if rings[i], err = secrets.LoadOrCreate(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	sealed := rings[0].Seal(secrets.Sealing, []byte("x"), nil)
	for i, k := range rings {
		if _, err := k.Open(secrets.Sealing, sealed, nil); err != nil {
			t.Errorf("program %d has another key", i)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "platform.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, err %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestText_IsHiddenEverywhere(t *testing.T) {
	t.Parallel()
	s := secrets.Text("hunter2")
	type config struct{ Password secrets.Text }
	js, err := json.Marshal(config{s})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "config", config{s}, "ring", ring(t, key('k')))
	shown := fmt.Sprintf("%v %s %q %x %#v %+v", s, s, s, s, config{s}, &config{s}) + string(js) + log.String() +
		fmt.Sprintf("%v %+v %#v", ring(t, key('k')), ring(t, key('k')), ring(t, key('k')))
	if strings.Contains(shown, "hunter2") || strings.Contains(shown, "68756e") || strings.Contains(shown, "kkk") ||
		strings.Contains(shown, "107 107") {
		t.Errorf("shown: %s", shown)
	}
	var back config
	if err := json.Unmarshal([]byte(`{"Password":"hunter2"}`), &back); err != nil ||
		back.Password.Reveal() != "hunter2" {
		t.Errorf("read %v, %v", back.Password.Reveal(), err)
	}
}

func TestLoadOrCreate_MakesAKeyThatNobodyCanGuess(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 3 {
		dir := t.TempDir()
		if _, err := secrets.LoadOrCreate(dir); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "platform.key"))
		if err != nil {
			t.Fatal(err)
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
		if err != nil || len(key) != secrets.KeySize {
			t.Fatalf("a key of %d bytes: %v", len(key), err)
		}
		values := map[byte]bool{}
		for _, b := range key {
			values[b] = true
		}
		if len(values) < 16 { // 32 random bytes have about 30 different ones
			t.Errorf("a key of %d different bytes", len(values))
		}
		seen[string(key)] = true
	}
	if len(seen) != 3 {
		t.Errorf("3 installations have %d keys", len(seen))
	}
}
