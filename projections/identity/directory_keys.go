package identityviews

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Secrets of API keys that have ended are remembered for a while, so that the audit log shows who still uses one: at
// most this many of an organization, and each for as long as the vault keeps it (vault.APIKeyMemory).
const (
	endedKeysMost   = 500
	endedKeysMemory = 90 * 24 * time.Hour
)

// directoryKeys has the API keys of all organizations. The lock of the directory holds for it.
type directoryKeys struct {
	secrets map[id.APIKeySecret]*directorySecret
	keys    map[id.APIKey]*directoryKey // that are not revoked
	live    map[id.Organization]int     // how many of them
	ended   map[id.Organization][]endedSecret
}

// directoryKey is the part of an API key that requests need; the lists never change.
type directoryKey struct {
	id                id.APIKey
	org               id.Organization
	role              events.Role
	scopes            []string
	networks          []netip.Prefix
	expiresAt         time.Time
	current, previous id.APIKeySecret
}

// directorySecret is one secret of a key.
type directorySecret struct {
	key   *directoryKey
	by    id.User   // who answers for it
	until time.Time // end of its overlap; zero = none was said
	ended bool
}

// endedSecret is a secret that is remembered after its end.
type endedSecret struct {
	id id.APIKeySecret
	at time.Time
}

// newDirectoryKeys makes the part without any key.
func newDirectoryKeys() directoryKeys {
	return directoryKeys{
		secrets: map[id.APIKeySecret]*directorySecret{}, keys: map[id.APIKey]*directoryKey{},
		live: map[id.Organization]int{}, ended: map[id.Organization][]endedSecret{},
	}
}

// issued adds a key.
func (d *directoryKeys) issued(e events.APIKeyIssued) {
	key := &directoryKey{
		id: e.KeyID, org: e.OrgID, role: e.Role, scopes: e.Scopes, networks: networksOf(e.AllowedAddresses),
		expiresAt: e.ExpiresAt, current: e.SecretID,
	}
	d.keys[e.KeyID], d.secrets[e.SecretID] = key, &directorySecret{key: key, by: e.By}
	d.live[e.OrgID]++
}

// rotated puts another secret in the place of the present one.
func (d *directoryKeys) rotated(e events.APIKeyRotated) {
	key, ok := d.keys[e.KeyID]
	if !ok {
		return
	}
	d.end(key, key.previous, e.At)
	key.previous, key.current = key.current, e.SecretID
	if old, ok := d.secrets[key.previous]; ok {
		old.until = e.PreviousUntil
	}
	if !e.Overlaps() { // whatever the clock of this machine says
		d.end(key, key.previous, e.At)
		key.previous = id.APIKeySecret{}
	}
	d.secrets[e.SecretID] = &directorySecret{key: key, by: e.By}
}

// revoked ends a key with all its secrets.
func (d *directoryKeys) revoked(e events.APIKeyRevoked) {
	key, ok := d.keys[e.KeyID]
	if !ok {
		return
	}
	d.end(key, key.previous, e.At)
	d.end(key, key.current, e.At)
	delete(d.keys, e.KeyID)
	if d.live[key.org]--; d.live[key.org] == 0 {
		delete(d.live, key.org)
	}
}

// end remembers that a secret of a key has ended, and forgets those that are remembered for too long.
func (d *directoryKeys) end(key *directoryKey, secret id.APIKeySecret, at time.Time) {
	s, ok := d.secrets[secret]
	if !ok || s.ended {
		return
	}
	s.ended = true
	list := append(d.ended[key.org], endedSecret{secret, at})
	for len(list) > endedKeysMost || at.Sub(list[0].at) > endedKeysMemory {
		delete(d.secrets, list[0].id)
		list = list[1:]
	}
	d.ended[key.org] = list
}

// networksOf reads the networks of a key. One that cannot be read has no address, so that it lets nobody in.
func networksOf(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		network, _ := netip.ParsePrefix(text)
		out = append(out, network)
	}
	return out
}

// KeyStanding has the present rights of a secret of an API key. Its lists must not be changed.
type KeyStanding struct {
	KeyID     id.APIKey
	OrgID     id.Organization
	Role      events.Role
	Scopes    []string       // nil = all that the role may
	Networks  []netip.Prefix // nil = from everywhere
	ExpiresAt time.Time      // zero = never
	Until     time.Time      // end of the overlap with a newer secret; zero = there is none
	Ended     bool           // it was revoked, or another one has replaced it
	// ByRole is the present role, in the organization, of the person who answers for the secret; "" = none any more.
	ByRole events.Role
}

// Over reports whether the secret was revoked or replaced.
func (s KeyStanding) Over(now time.Time) bool {
	return s.Ended || !s.Until.IsZero() && !now.Before(s.Until)
}

// Expired reports whether the time of the key is over.
func (s KeyStanding) Expired(now time.Time) bool {
	return !s.ExpiresAt.IsZero() && !now.Before(s.ExpiresAt)
}

// Stopped reports whether the person who answers for the secret has not the key's role any more: whoever made a key
// may have kept a copy of it, and must not have more rights through it than by signing in.
func (s KeyStanding) Stopped() bool { return !s.ByRole.AtLeast(s.Role) }

// Admits reports whether a request may come from an address.
func (s KeyStanding) Admits(ip string) bool {
	if s.Networks == nil {
		return true
	}
	at, err := netip.ParseAddr(ip)
	if err != nil {
		return false
	}
	for _, network := range s.Networks {
		if network.Contains(at.Unmap()) {
			return true
		}
	}
	return false
}

// APIKey finds the rights of a secret; false when there is no such secret, or it has ended long ago.
func (d *Directory) APIKey(secret id.APIKeySecret) (KeyStanding, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	s, ok := d.apiKeys.secrets[secret]
	if !ok {
		return KeyStanding{}, false
	}
	by, _ := d.standing(s.by, s.key.org, id.Session{})
	return KeyStanding{
		KeyID: s.key.id, OrgID: s.key.org, Role: s.key.role, Scopes: s.key.scopes, Networks: s.key.networks,
		ExpiresAt: s.key.expiresAt, Until: s.until, Ended: s.ended, ByRole: by.Role,
	}, true
}

// APIKeys counts the keys of an organization that are not revoked, expired ones included.
func (d *Directory) APIKeys(org id.Organization) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.apiKeys.live[org]
}
