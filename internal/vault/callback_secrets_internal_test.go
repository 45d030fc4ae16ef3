package vault

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

func TestKnownTokens_ThoseOfShortcodesAreNotForgottenForThoseOfPrompts(t *testing.T) {
	t.Parallel()
	s, org := &CallbackSecrets{}, id.New[id.Organization]()
	s.known.add(hashToken("paybill"), "c2b", org)
	s.known.add(hashToken("first prompt"), passingSecrets[0], org)
	for i := range mostKnownPrompts {
		if i == mostKnownPrompts/2 {
			if _, ok := s.Known(passingSecrets[0], "first prompt"); !ok {
				t.Error("a prompt is forgotten while there is room")
			}
		}
		sum := sha256.Sum256(fmt.Append(nil, i))
		s.known.add(sum[:], passingSecrets[0], org)
		s.known.add(sum[:], passingSecrets[0], org) // what is known already costs nobody its place
	}
	if got, ok := s.Known("c2b", "paybill"); !ok || got != org {
		t.Error("the token of the shortcode is forgotten")
	}
	if _, ok := s.Known(passingSecrets[0], "first prompt"); !ok {
		t.Error("a prompt that was asked for is forgotten for one that was not")
	}
	if n := s.known.prompts.Len(); n != mostKnownPrompts {
		t.Errorf("%d prompts are known", n)
	}
	for _, token := range []string{"prompt", "", "unknown"} {
		if _, ok := s.Known("c2b", secrets.Text(token)); ok {
			t.Errorf("%q is known", token)
		}
	}
	if _, ok := s.Known(passingSecrets[0], "paybill"); ok {
		t.Error("the token of a shortcode counts as that of a prompt")
	}
}
