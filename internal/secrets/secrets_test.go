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
	for _, text := range []string{"", "hunter2!", base64.StdEncoding.EncodeToString([]byte("short")),
		base64.StdEncoding.EncodeToString(key(3)) + "!"} {
		_, err := secrets.Parse(text)
		if err == nil || (text != "" && strings.Contains(err.Error(), text)) {
			t.Errorf("%q: %v", text, err)
		} else if !strings.Contains(err.Error(), "openssl rand -base64 32") {
			t.Errorf("%q: the error does not say how a key is made: %v", text, err)
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

func TestParse_PreviousKeysAreReadLikeTheCurrentOne(t *testing.T) {
	t.Parallel()
	old := base64.StdEncoding.EncodeToString(key(1))
	k, err := secrets.Parse(base64.StdEncoding.EncodeToString(key(2)), old)
	if err != nil {
		t.Fatal(err)
	}
	sealed := ring(t, key(1)).Seal(secrets.Sealing, []byte("x"), nil)
	if got, err := k.Open(secrets.Sealing, sealed, nil); err != nil || string(got) != "x" {
		t.Errorf("a value of before is %q, %v", got, err)
	}
	if _, err := secrets.Parse(base64.StdEncoding.EncodeToString(key(2)), "no key"); err == nil {
		t.Error("a previous key that cannot be read was passed over")
	}
}

func TestNew_RefusesAKeyOfAnotherSize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 16, secrets.KeySize - 1, secrets.KeySize + 1} {
		if _, err := secrets.New(make([]byte, size)); err == nil {
			t.Errorf("a key of %d bytes was taken", size)
		}
		if _, err := secrets.New(key(1), make([]byte, size)); err == nil {
			t.Errorf("a previous key of %d bytes was taken", size)
		}
	}
}

func TestStale_IsAllThatWasNotSealedUnderTheCurrentKey(t *testing.T) {
	t.Parallel()
	k := ring(t, key(2), key(1))
	fresh, old := k.Seal(secrets.Sealing, nil, nil), ring(t, key(1)).Seal(secrets.Sealing, nil, nil)
	later := bytes.Clone(fresh)
	later[0]++
	for name, c := range map[string]struct {
		value       []byte
		stale, lead bool // whether the value is stale, and whether SQL finds the current prefix on it
	}{
		"fresh": {fresh, false, true}, "previous key": {old, true, false}, "another version": {later, true, false},
		"nothing": {nil, true, false}, "cut": {fresh[:8], true, false},
	} {
		if k.Stale(c.value) != c.stale || bytes.HasPrefix(c.value, k.CurrentPrefix()) != c.lead {
			t.Errorf("%s: stale %v, prefix %v", name, k.Stale(c.value), bytes.HasPrefix(c.value, k.CurrentPrefix()))
		}
	}
	if _, err := k.Open(secrets.Sealing, fresh[:8], nil); !errors.Is(err, secrets.ErrTampered) {
		t.Errorf("a cut value: %v", err)
	}
}

func TestLoadOrCreate_NeverStartsWithoutAUsableKey(t *testing.T) {
	t.Parallel()
	wrong := t.TempDir()
	if err := os.WriteFile(filepath.Join(wrong, "platform.key"), []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "platform.key"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"a damaged key": wrong, "a folder in its place": folder, "a file in place of the data": file,
		"below a file": filepath.Join(file, "data"),
	} {
		if k, err := secrets.LoadOrCreate(dir); err == nil || k != nil {
			t.Errorf("%s: started with %v, %v", name, k, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(wrong, "platform.key")); err != nil || string(text) != "not a key" {
		t.Errorf("the damaged key was overwritten: %q, %v", text, err)
	}
}

func TestLoadOrCreate_SaysThatTheKeyCouldNotBeMade(t *testing.T) {
	t.Parallel()
	dangling := filepath.Join(t.TempDir(), "data")
	if err := os.Symlink("nowhere/at/all", dangling); err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"a link to nowhere": dangling}
	if _, err := os.Stat("/proc/self/fdinfo"); err == nil {
		places["a folder that takes no files"] = "/proc/self/fdinfo" // not even from the administrator
	}
	for name, dir := range places {
		k, err := secrets.LoadOrCreate(dir)
		if k != nil || err == nil || !strings.HasPrefix(err.Error(), "make platform key: ") {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
}

func TestText_HidesWhatItIsButShowsWhetherThereIsOne(t *testing.T) {
	t.Parallel()
	given, none := secrets.Text("hunter2"), secrets.Text("")
	if given.IsZero() || !none.IsZero() {
		t.Errorf("given is zero: %v; none is zero: %v", given.IsZero(), none.IsZero())
	}
	for name, shown := range map[string]string{
		"String": given.String(), "an empty one": none.String(), "the log": given.LogValue().String(),
		"fmt": fmt.Sprint(given), "a keyring": ring(t, key(1)).String(), "its Go form": ring(t, key(1)).GoString(),
	} {
		if shown != secrets.Hidden {
			t.Errorf("%s shows %q", name, shown)
		}
	}
	js, err := json.Marshal(map[string]secrets.Text{"given": given, "none": none})
	if want := `{"given":"` + secrets.Hidden + `","none":""}`; err != nil || string(js) != want {
		t.Errorf("JSON is %s, %v", js, err)
	}
}
