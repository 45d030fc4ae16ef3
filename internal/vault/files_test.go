package vault_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

func TestFiles_AreSealedAndGoneAfterTheirTime(t *testing.T) {
	t.Parallel()
	k := open(t)
	org, other, file := id.New[id.Organization](), id.New[id.Organization](), id.New[id.File]()
	kept := vault.File{ID: file, OrgID: org, Ends: k.clock.Now().Add(time.Hour)}
	for part, text := range []string{"first", "a password"} {
		if err := k.Files.Put(t.Context(), kept, part, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := k.Files.Get(t.Context(), org, file, 1)
	if err != nil || string(got) != "a password" {
		t.Fatalf("%q, %v", got, err)
	}
	var sealed []byte
	err = k.db.Owner.QueryRow(t.Context(), replaceSchema(k.db, `select sealed from {schema}.files where part = 1`)).
		Scan(&sealed)
	if err != nil || bytes.Contains(sealed, []byte("password")) {
		t.Errorf("stored in the clear, %v", err)
	}
	if _, err := k.Files.Get(t.Context(), other, file, 1); failure.CodeOf(err) != "file_gone" {
		t.Errorf("another organization: %v", err)
	}
	k.clock.Advance(time.Hour)
	if err := k.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Files.Get(t.Context(), org, file, 0); failure.CodeOf(err) != "file_gone" {
		t.Errorf("an old file: %v", err)
	}
}
