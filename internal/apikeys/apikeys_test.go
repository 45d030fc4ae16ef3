package apikeys_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// made is a key of a form, with its text.
func made(f apikeys.Form) (apikeys.Key, string) {
	k := apikeys.New(id.New[id.APIKeySecret]())
	return k, f.Text(k).Reveal()
}

func TestKey_ItsTextIsReadInItsOwnEnvironmentAlone(t *testing.T) {
	t.Parallel()
	k, text := made(apikeys.Live)
	if got, ok := apikeys.Live.Parse(text); !ok || got != k {
		t.Errorf("read as %+v, %v", got, ok)
	}
	if !strings.HasPrefix(text, "lastmile_live_") || !strings.HasPrefix(text, apikeys.Live.Prefix(k.ID)) {
		t.Error("the text does not begin with its prefix")
	}
	if _, ok := apikeys.Development.Parse(text); ok || apikeys.FormOf(true) != apikeys.Live ||
		apikeys.FormOf(false) != apikeys.Development {
		t.Error("a key of production is one of development")
	}
	if other, _ := made(apikeys.Live); other.Secret == k.Secret || len(k.Secret) != 32 {
		t.Error("the secret is not 32 random bytes")
	}
	if shown := fmt.Sprintf("%v %+v %#v", k, k, k.Secret); strings.Contains(shown, k.Secret.Reveal()) {
		t.Error("a printed key shows its secret")
	}
}

func TestKey_OneChangedCharacterIsNoKey(t *testing.T) {
	t.Parallel()
	_, text := made(apikeys.Development)
	for at := range text {
		for _, instead := range []byte{text[at] ^ 1, text[at] ^ 0x20, text[at] ^ 0x80, ' '} {
			if instead == text[at] {
				continue
			}
			changed := text[:at] + string([]byte{instead}) + text[at+1:]
			if _, ok := apikeys.Development.Parse(changed); ok {
				t.Errorf("read with another character at %d", at)
			}
		}
	}
}

// malformed gives texts that are nearly a key.
func malformed(text string) []string {
	return []string{
		"", " ", "lastmile_", "lastmile_dev_", "lastmile_dev__", text[:len(text)-1], text + "0", text + text,
		strings.ToUpper(text), "lastmile_dev_" + strings.ToUpper(strings.TrimPrefix(text, "lastmile_dev_")),
		strings.Replace(text, "lastmile", "lastmi1e", 1), strings.Replace(text, "_dev_", "_live_", 1),
		strings.Replace(text, "_dev_", "_", 1), " " + text, text + "\n", text + "\x00", strings.Repeat(text, 1000),
		"lastmile_dev_" + strings.Repeat("é", 60), strings.ReplaceAll(text, "_", "＿"),
		"lastmile_dev_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 72),
	}
}

func TestKey_MalformedTextsAreNone(t *testing.T) {
	t.Parallel()
	_, text := made(apikeys.Development)
	for _, bad := range malformed(text) {
		if _, ok := apikeys.Development.Parse(bad); ok {
			t.Errorf("%.200q is read as a key", bad)
		}
	}
	for token, looks := range map[string]bool{text: true, "lastmile_x": true, "eyJhbGciOi.J9.x": false, "": false} {
		if apikeys.Looks(token) != looks {
			t.Errorf("%.40q looks like a key: %v", token, !looks)
		}
	}
}

// FuzzParse checks that a text which is read is the text of what was read.
func FuzzParse(f *testing.F) {
	_, text := made(apikeys.Live)
	for _, seed := range append(malformed(text), text) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, ok := apikeys.Live.Parse(text)
		if ok && apikeys.Live.Text(k).Reveal() != text {
			t.Fatalf("%q is the same key as another text", text)
		}
	})
}
