package identityviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// The keys of Acme in these tests, and their secrets.
var (
	books   = id.Derive[id.APIKey]("test", "books")
	backups = id.Derive[id.APIKey]("test", "backups")
)

// secretOf is the n-th secret of a key.
func secretOf(key id.APIKey, n string) id.APIKeySecret {
	return id.Derive[id.APIKeySecret](key.String(), n)
}

// keyEvents are those of two keys of Acme: one is replaced twice and revoked, the other stays.
func keyEvents() []events.Event {
	return []events.Event{
		events.APIKeyIssued{
			KeyID: books, OrgID: acme, SecretID: secretOf(books, "1"), Prefix: "lastmile_dev_1", Name: "Books",
			Role: events.RoleSupport, Scopes: []string{"invoices:read", "receipts:read"},
			AllowedAddresses: []string{"192.0.2.0/24", "2001:db8::/32"}, ExpiresAt: began.Add(48 * time.Hour), By: ada,
			At: began,
		},
		events.APIKeyRotated{
			KeyID: books, OrgID: acme, SecretID: secretOf(books, "2"), Prefix: "lastmile_dev_2",
			PreviousUntil: began.Add(2 * time.Hour), By: olga, At: began.Add(time.Hour),
		},
		events.APIKeyRotated{
			KeyID: books, OrgID: acme, SecretID: secretOf(books, "3"), Prefix: "lastmile_dev_3",
			PreviousUntil: began.Add(80 * time.Minute), By: ada, At: began.Add(80 * time.Minute),
		},
		events.APIKeyRevoked{KeyID: books, OrgID: acme, By: olga, At: began.Add(3 * time.Hour)},
	}
}

// backupEvents are those of the key that stays, in its overlap.
func backupEvents() []events.Event {
	return []events.Event{
		events.APIKeyIssued{
			KeyID: backups, OrgID: acme, SecretID: secretOf(backups, "1"), Prefix: "lastmile_dev_4", Name: "Backups",
			Role: events.RoleAdmin, By: ada, At: began,
		},
		events.APIKeyRotated{
			KeyID: backups, OrgID: acme, SecretID: secretOf(backups, "2"), Prefix: "lastmile_dev_5",
			PreviousUntil: began.Add(2 * time.Hour), By: ada, At: began.Add(time.Hour),
		},
	}
}

// staffed is a directory that knows Acme's administrator.
func staffed() *identityviews.Directory {
	d := identityviews.NewDirectory()
	for _, e := range []events.Event{
		events.OrganizationCreated{OrgID: acme, Slug: "acme", Name: "Acme", CreatedAt: began},
		events.UserRegistered{UserID: ada, RegisteredAt: began}, events.AddressKeptApart{UserID: ada, OrgID: acme},
		events.MembershipGranted{UserID: ada, OrgID: acme, Role: events.RoleAdmin, At: began},
		events.UserRegistered{UserID: olga, SuperAdmin: true, RegisteredAt: began},
	} {
		d.Apply(events.Envelope{Event: e})
	}
	return d
}

func TestDirectory_ASecretWorksUntilAnotherOneReplacesItOrTheKeyEnds(t *testing.T) {
	t.Parallel()
	d := staffed()
	// after each event, the secrets that work then, and those that work two hours and a half after the beginning
	for i, want := range [][2]string{{"1", "1"}, {"12", "2"}, {"3", "3"}, {"", ""}} {
		d.Apply(events.Envelope{Event: keyEvents()[i]})
		at := began.Add(time.Hour)
		for when, now := range []time.Time{at, began.Add(150 * time.Minute)} {
			got := ""
			for _, n := range []string{"1", "2", "3"} {
				if s, known := d.APIKey(secretOf(books, n)); known && !s.Over(now) {
					got += n
				}
			}
			if got != want[when] {
				t.Errorf("after event %d at %s the secrets %q work, want %q", i, now, got, want[when])
			}
		}
	}
	if s, known := d.APIKey(secretOf(books, "1")); !known || s.KeyID != books || !s.Ended {
		t.Errorf("an old secret is not recognised: %+v", s)
	}
	if _, known := d.APIKey(secretOf(books, "4")); known || d.APIKeys(acme) != 0 {
		t.Error("an unknown secret is known, or a revoked key counts")
	}
}

func TestDirectory_AKeyIsStoppedWhileWhoAnswersForItHasNotItsRole(t *testing.T) {
	t.Parallel()
	d := staffed()
	d.Apply(events.Envelope{Event: keyEvents()[0]}) // of the role support
	d.Apply(events.Envelope{Event: backupEvents()[0]})
	for _, step := range []struct {
		after           events.Event
		books, stopped2 bool // whether each key is stopped
	}{
		{events.PasswordChanged{UserID: ada}, false, false},
		{events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleSupport}, false, true},
		{events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleSubscriber}, true, true},
		{events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleAdmin}, false, false},
		{events.MembershipDisabled{UserID: ada, OrgID: acme}, true, true},
		{keyEvents()[1], true, true}, // Olga, of the platform, answers for the new secret of Books alone
		{events.MembershipEnabled{UserID: ada, OrgID: acme}, false, false},
		{events.UserForgotten{UserID: ada}, true, true},
	} {
		d.Apply(events.Envelope{Event: step.after})
		first, _ := d.APIKey(secretOf(books, "1"))
		other, _ := d.APIKey(secretOf(backups, "1"))
		if first.Stopped() != step.books || other.Stopped() != step.stopped2 {
			t.Errorf("after %T: stopped %v and %v", step.after, first.Stopped(), other.Stopped())
		}
	}
	if s, known := d.APIKey(secretOf(books, "2")); !known || s.Stopped() {
		t.Error("a secret that somebody else has made is stopped, too")
	}
}

func TestKeyStanding_AddressesAndExpiry(t *testing.T) {
	t.Parallel()
	d := staffed()
	d.Apply(events.Envelope{Event: keyEvents()[0]})
	d.Apply(events.Envelope{Event: backupEvents()[0]})
	s, _ := d.APIKey(secretOf(books, "1"))
	for ip, admitted := range map[string]bool{
		"192.0.2.1": true, "192.0.3.1": false, "2001:db8::7": true, "2001:db9::7": false, "::ffff:192.0.2.1": true,
		"": false, "odd": false,
	} {
		if s.Admits(ip) != admitted {
			t.Errorf("%q: admitted %v", ip, !admitted)
		}
	}
	if s.Expired(began.Add(48*time.Hour-1)) || !s.Expired(began.Add(48*time.Hour)) {
		t.Error("it does not expire at its instant")
	}
	if free, _ := d.APIKey(secretOf(backups, "1")); !free.Admits("") || free.Expired(began.AddDate(100, 0, 0)) {
		t.Error("a key without bounds has some")
	}
	odd := keyEvents()[0].(events.APIKeyIssued) //nolint:forcetypeassert // as it is above
	odd.KeyID, odd.SecretID, odd.AllowedAddresses = backups, secretOf(backups, "odd"), []string{"odd"}
	d.Apply(events.Envelope{Event: odd})
	if s, _ := d.APIKey(odd.SecretID); s.Admits("192.0.2.1") || s.Admits("0.0.0.0") || s.Admits("::") {
		t.Error("a network that cannot be read admits somebody")
	}
}

// TestDirectory_RemembersFewEndedSecrets: whoever makes and revokes keys in a loop fills no memory.
func TestDirectory_RemembersFewEndedSecrets(t *testing.T) {
	t.Parallel()
	d := staffed()
	made := make([]id.APIKeySecret, 700)
	for i := range made {
		key := id.New[id.APIKey]()
		made[i] = secretOf(key, "1")
		d.Apply(events.Envelope{Event: events.APIKeyIssued{KeyID: key, OrgID: acme, SecretID: made[i], At: began}})
		d.Apply(events.Envelope{Event: events.APIKeyRevoked{KeyID: key, OrgID: acme, At: began}})
	}
	remembered := 0
	for _, secret := range made {
		if _, known := d.APIKey(secret); known {
			remembered++
		}
	}
	if _, newest := d.APIKey(made[699]); remembered != 500 || !newest {
		t.Errorf("%d are remembered", remembered)
	}
	later, at := id.New[id.APIKey](), began.AddDate(0, 0, 91)
	d.Apply(events.Envelope{Event: events.APIKeyIssued{
		KeyID: later, OrgID: acme, SecretID: secretOf(later, "1"), At: at,
	}})
	d.Apply(events.Envelope{Event: events.APIKeyRevoked{KeyID: later, OrgID: acme, At: at}})
	if _, old := d.APIKey(made[699]); old {
		t.Error("one is remembered after 90 days")
	}
}
