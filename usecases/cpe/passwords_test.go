package cpecases_test

import (
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// TestPasswords_APasswordThatCannotBeOpenedIsTheFaultOfNoOther: those who call together share a reading, and each gets
// what is its own.
func TestPasswords_APasswordThatCannotBeOpenedIsTheFaultOfNoOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	whole, broken, absent := id.New[id.Secret](), id.New[id.Secret](), id.New[id.Secret]()
	for _, ref := range []id.Secret{whole, broken} {
		secret := vault.Secret{Ref: ref, OrgID: id.New[id.Organization](), Purpose: commands.CpeSignInPurpose}
		if err := k.Vault.Secrets.Put(t.Context(), secret, []byte("s3cret")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := k.DB.Owner.Exec(t.Context(),
		`update `+k.DB.Namespace.Schema("vault")+`.secrets set sealed = 'x' where ref = $1`, broken)
	if err != nil {
		t.Fatal(err)
	}
	passwords := cpecases.NewPasswords(k.Vault.Secrets)
	var all sync.WaitGroup
	for range 16 {
		for ref, want := range map[id.Secret]string{whole: "s3cret", broken: "", absent: ""} {
			all.Go(func() {
				got, err := passwords.Of(t.Context(), ref)
				if got.Reveal() != want || (err != nil) != (ref == broken) {
					t.Errorf("got %d characters: %v", len(got.Reveal()), err)
				}
			})
		}
	}
	all.Wait()
}
