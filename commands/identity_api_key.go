package commands

import (
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// APIKeyCategory begins the names of the streams of API keys.
const APIKeyCategory = "apikey"

// MaxAPIKeyOverlap is how long a replaced secret of an API key may go on working.
const MaxAPIKeyOverlap = 7 * 24 * time.Hour

// Bounds of the lists of an API key.
const (
	maxAPIKeyScopes    = 200
	maxAPIKeyAddresses = 100
)

// APIKeyCommand is a command to "apikey-<id>".
//
//sumtype:decl
type APIKeyCommand interface {
	Command
	apiKeyCommand()
}

// IssueAPIKey makes a key. The caller stores the secret afterwards, and has seen that each scope exists. Fails:
// api_key_exists, api_key_role.
type IssueAPIKey struct {
	KeyID            id.APIKey
	OrgID            id.Organization
	SecretID         id.APIKeySecret
	Prefix           string
	Name             string
	Role             events.Role
	Scopes           []string // as NormalizeScopes gives them; nil = all that the role may
	AllowedAddresses []string // as NormalizeNetworks gives them; nil = from everywhere
	ExpiresAt        time.Time
	By               id.User
	ByRole           events.Role // at this moment
}

// RotateAPIKey puts another secret in the place of one. From is the present secret as the caller has seen it: of two
// who replace the same one, the second is refused. Fails: api_key_not_found, api_key_over, api_key_rotated,
// api_key_role, api_key_rotations.
type RotateAPIKey struct {
	KeyID    id.APIKey
	From     id.APIKeySecret
	SecretID id.APIKeySecret
	Prefix   string
	Overlap  time.Duration // for which the secret of before works on; 0 = not at all
	By       id.User
	ByRole   events.Role
}

// RevokeAPIKey ends a key at once. A revoked one stays as it is. Fails: api_key_not_found.
type RevokeAPIKey struct {
	KeyID id.APIKey
	By    id.User
}

func (IssueAPIKey) CommandName() string  { return "identity.IssueAPIKey" }
func (RotateAPIKey) CommandName() string { return "identity.RotateAPIKey" }
func (RevokeAPIKey) CommandName() string { return "identity.RevokeAPIKey" }
func (IssueAPIKey) apiKeyCommand()       {}
func (RotateAPIKey) apiKeyCommand()      {}
func (RevokeAPIKey) apiKeyCommand()      {}

func (c IssueAPIKey) Target() Target  { return At(APIKeyCategory, c.KeyID) }
func (c RotateAPIKey) Target() Target { return At(APIKeyCategory, c.KeyID) }
func (c RevokeAPIKey) Target() Target { return At(APIKeyCategory, c.KeyID) }

// scopeForm is a resource, as the first part of a path in the API, with what may be done there.
var scopeForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}:(read|write)$`)

// NormalizeScopes sorts scopes and takes each once; nil stays nil.
func NormalizeScopes(scopes []string) []string {
	sorted := slices.Clone(scopes)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// NormalizeNetworks writes networks in one form and each once: a single address as the network that has no other, and
// an IPv4 address that is written as IPv6 as IPv4. What is neither stays as it is, for Validate to refuse.
func NormalizeNetworks(texts []string) []string {
	var out []string
	for _, text := range texts {
		if network, ok := parseNetwork(text); ok {
			text = network.String()
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// parseNetwork reads an address or a network; false for one with a zone, and for a network of IPv4 addresses that are
// written as IPv6.
func parseNetwork(text string) (netip.Prefix, bool) {
	if at, err := netip.ParseAddr(text); err == nil && at.Zone() == "" {
		at = at.Unmap()
		return netip.PrefixFrom(at, at.BitLen()), true
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, false
	}
	return network.Masked(), true
}

// Validate checks the form of all fields; whether the time is in the future is decided later.
func (c IssueAPIKey) Validate() error {
	var f failure.Faults
	checkName(&f, c.Name)
	f.Check(c.Role == events.RoleAdmin || c.Role == events.RoleSupport, "role", "must be admin or support")
	f.Check(c.Scopes == nil || len(c.Scopes) > 0, "scopes", "must name at least one, or be left out")
	f.Check(len(c.Scopes) <= maxAPIKeyScopes, "scopes", "must be at most %d", maxAPIKeyScopes)
	for _, scope := range c.Scopes {
		f.Check(scopeForm.MatchString(scope), "scopes", "has %q, which is not RESOURCE:read or RESOURCE:write",
			shortened(scope))
	}
	f.Check(c.AllowedAddresses == nil || len(c.AllowedAddresses) > 0, "allowedAddresses",
		"must name at least one, or be left out")
	f.Check(len(c.AllowedAddresses) <= maxAPIKeyAddresses, "allowedAddresses", "must be at most %d", maxAPIKeyAddresses)
	for _, text := range c.AllowedAddresses {
		_, ok := parseNetwork(text)
		f.Check(ok, "allowedAddresses", "has %q, which is neither an address nor a network such as 192.0.2.0/24",
			shortened(text))
	}
	return f.Err()
}

// Validate bounds the overlap.
func (c RotateAPIKey) Validate() error {
	var f failure.Faults
	f.Check(c.Overlap >= 0 && c.Overlap <= MaxAPIKeyOverlap, "overlap", "must be at most 168h, and not negative")
	return f.Err()
}

// Validate accepts everything, because the program fills all fields.
func (RevokeAPIKey) Validate() error { return nil }

// shortened bounds what a message repeats of a text that somebody sent.
func shortened(text string) string {
	const most = 64
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// ErrNoAPIKey is the failure for a key that does not exist or belongs to another organization.
func ErrNoAPIKey() error {
	return failure.NewNotFound("api_key_not_found", "There is no such API key.")
}

// ErrAPIKeyRotated is the failure for whoever replaces a secret that is not the present one any more.
func ErrAPIKeyRotated() error {
	return failure.NewConflict("api_key_rotated",
		"Somebody else has replaced this API key at the same moment. Look at it before you replace it again.")
}
