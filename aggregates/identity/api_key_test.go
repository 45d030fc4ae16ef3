package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The key of these tests, and its secrets in the order in which they replace each other.
var (
	booksKey = id.Derive[id.APIKey]("test", "books")
	secret1  = id.Derive[id.APIKeySecret]("test", "1")
	secret2  = id.Derive[id.APIKeySecret]("test", "2")
	secret3  = id.Derive[id.APIKeySecret]("test", "3")
	keeper   = id.Derive[id.User]("test", "keeper") // another administrator
)

// keyScenario is one about an API key.
type keyScenario = decidertest.Scenario[identity.APIKey, commands.APIKeyCommand, events.APIKeyEvent]

// apiKey begins a scenario about an API key.
func apiKey(t *testing.T) *keyScenario { return decidertest.For(t, identity.APIKeys(), now) }

// issue makes a key that reads invoices, and expires in an hour.
func issue() commands.IssueAPIKey {
	return commands.IssueAPIKey{
		KeyID: booksKey, OrgID: acme, SecretID: secret1, Prefix: "lastmile_dev_1", Name: "Books",
		Role: events.RoleSupport, Scopes: []string{"invoices:read"}, AllowedAddresses: []string{"192.0.2.0/24"},
		ExpiresAt: now.Add(time.Hour), By: ada, ByRole: events.RoleAdmin,
	}
}

// keyIssued is the event of issue.
func keyIssued() events.APIKeyIssued {
	return events.APIKeyIssued{
		KeyID: booksKey, OrgID: acme, SecretID: secret1, Prefix: "lastmile_dev_1", Name: "Books",
		Role: events.RoleSupport, Scopes: []string{"invoices:read"}, AllowedAddresses: []string{"192.0.2.0/24"},
		ExpiresAt: now.Add(time.Hour), By: ada, At: now,
	}
}

// rotate replaces a secret by another one.
func rotate(from, to id.APIKeySecret, overlap time.Duration) commands.RotateAPIKey {
	return commands.RotateAPIKey{
		KeyID: booksKey, From: from, SecretID: to, Prefix: "lastmile_dev_2", Overlap: overlap, By: keeper,
		ByRole: events.RoleAdmin,
	}
}

func TestIssueAPIKey_HasAtMostTheRoleOfItsMaker(t *testing.T) {
	t.Parallel()
	apiKey(t).When(issue()).Then(keyIssued())
	apiKey(t).Given(keyIssued()).When(issue()).ThenFails("api_key_exists")
	c := issue()
	c.Role, c.ByRole = events.RoleAdmin, events.RoleSupport
	apiKey(t).When(c).ThenFails("api_key_role")
	c = issue()
	c.ExpiresAt = now
	apiKey(t).When(c).ThenFails("invalid_input")
	s := apiKey(t).When(issue())
	s.ThenEvents()
	s.BelongsTo(acme, "api_key_not_found")
}

func TestRotateAPIKey_OfTwoWhoReplaceOneSecretOneIsRefused(t *testing.T) {
	t.Parallel()
	rotated := events.APIKeyRotated{
		KeyID: booksKey, OrgID: acme, SecretID: secret2, Prefix: "lastmile_dev_2", PreviousUntil: now.Add(time.Minute),
		By: keeper, At: now,
	}
	apiKey(t).When(rotate(secret1, secret2, 0)).ThenFails("api_key_not_found")
	s := apiKey(t).Given(keyIssued()).When(rotate(secret1, secret2, time.Minute)).Then(rotated)
	s.When(rotate(secret1, secret3, 0)).ThenFails("api_key_rotated")
	s.When(rotate(secret2, secret3, 0))
	if e, ok := s.ThenEvents()[0].(events.APIKeyRotated); !ok || e.Overlaps() || s.State().Secret() != secret3 {
		t.Errorf("%+v", e)
	}
	low := rotate(secret1, secret2, 0)
	low.ByRole = events.RoleSubscriber
	apiKey(t).Given(keyIssued()).When(low).ThenFails("api_key_role")
	apiKey(t).Given(keyIssued()).At(now.Add(time.Hour)).When(rotate(secret1, secret2, 0)).ThenFails("api_key_over")
}

func TestRotateAPIKey_HasAnEndSoThatItsStreamStaysShort(t *testing.T) {
	t.Parallel()
	s := apiKey(t).Given(keyIssued())
	for range 500 {
		s.Given(events.APIKeyRotated{KeyID: booksKey, OrgID: acme, SecretID: secret2, At: now})
	}
	s.When(rotate(secret2, secret3, 0)).ThenFails("api_key_rotations")
}

func TestRevokeAPIKey_EndsItForGood(t *testing.T) {
	t.Parallel()
	revoke := commands.RevokeAPIKey{KeyID: booksKey, By: keeper}
	apiKey(t).When(revoke).ThenFails("api_key_not_found")
	s := apiKey(t).Given(keyIssued()).When(revoke).Then(events.APIKeyRevoked{
		KeyID: booksKey, OrgID: acme, By: keeper, At: now,
	})
	s.When(revoke).ThenNothing()
	s.When(rotate(secret1, secret2, 0)).ThenFails("api_key_over")
}

func TestIssueAPIKey_FormIsChecked(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string][]func(*commands.IssueAPIKey){
		"name": {
			func(c *commands.IssueAPIKey) { c.Name = " " },
			func(c *commands.IssueAPIKey) { c.Name = strings.Repeat("x", 201) },
		},
		"role": {
			func(c *commands.IssueAPIKey) { c.Role = events.RoleSuperAdmin },
			func(c *commands.IssueAPIKey) { c.Role = events.RoleSubscriber },
		},
		"scopes": {
			func(c *commands.IssueAPIKey) { c.Scopes = []string{} },
			func(c *commands.IssueAPIKey) { c.Scopes = []string{"invoices"} },
			func(c *commands.IssueAPIKey) { c.Scopes = []string{"*:read"} },
			func(c *commands.IssueAPIKey) { c.Scopes = []string{"invoices:admin"} },
			func(c *commands.IssueAPIKey) { c.Scopes = make([]string, 201) },
		},
		"allowedAddresses": {
			func(c *commands.IssueAPIKey) { c.AllowedAddresses = []string{} },
			func(c *commands.IssueAPIKey) { c.AllowedAddresses = []string{"everywhere"} },
			func(c *commands.IssueAPIKey) { c.AllowedAddresses = []string{"fe80::1%eth0"} },
			func(c *commands.IssueAPIKey) { c.AllowedAddresses = []string{"::ffff:192.0.2.0/120"} },
		},
	} {
		for i, change := range spoil {
			c := issue()
			change(&c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) ||
				failure.KindOf(err) != failure.Invalid {
				t.Errorf("%s %d: %v", field, i, err)
			}
		}
	}
	c := rotate(secret1, secret2, -1)
	if c.Validate() == nil {
		t.Error("a negative overlap is valid")
	}
	c.Overlap = commands.MaxAPIKeyOverlap + 1
	if c.Validate() == nil {
		t.Error("a long overlap is valid")
	}
}

func TestNormalizeNetworks_OneFormForEach(t *testing.T) {
	t.Parallel()
	got := commands.NormalizeNetworks([]string{
		"192.0.2.7/24", "192.0.2.0/24", "198.51.100.1", "::ffff:198.51.100.1", "2001:db8::1", "2001:DB8::/32", "odd",
	})
	want := "192.0.2.0/24 198.51.100.1/32 2001:db8::1/128 2001:db8::/32 odd"
	if strings.Join(got, " ") != want || commands.NormalizeNetworks(nil) != nil {
		t.Errorf("got %q", got)
	}
	scopes := commands.NormalizeScopes([]string{"b:read", "a:read", "b:read"})
	if strings.Join(scopes, " ") != "a:read b:read" {
		t.Errorf("got %q", scopes)
	}
}
