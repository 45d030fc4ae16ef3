package identitycases

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// MaxAPIKeys is the number of keys that an organization may have at once, expired ones included: every program has all
// of them in memory.
const MaxAPIKeys = 100

// APIKeys makes, replaces and revokes the keys with which other programs act for an organization. All fields are
// required. Safe for concurrent use.
type APIKeys struct {
	Bus     *bus.Bus
	Secrets *vault.APIKeys
	Form    apikeys.Form
	// Directory decides at every request; DirectoryShows waits until it has a position of the log, and Head gives the
	// newest one.
	Directory      *identityviews.Directory
	DirectoryShows *runner.Memory
	Head           func(ctx context.Context) (uint64, error)
	Locks          *postgres.DB
}

// NewAPIKey describes a key to be made.
type NewAPIKey struct {
	Name             string
	Role             events.Role
	Scopes           []string // nil = all that the role may
	AllowedAddresses []string // nil = from everywhere
	ExpiresAt        time.Time
}

// Validate checks the form and reports all faults together. Fields are named as in the API.
func (in NewAPIKey) Validate() error { return in.command().Validate() }

// command brings the lists into one form.
func (in NewAPIKey) command() commands.IssueAPIKey {
	return commands.IssueAPIKey{
		Name: in.Name, Role: in.Role, Scopes: commands.NormalizeScopes(in.Scopes),
		AllowedAddresses: commands.NormalizeNetworks(in.AllowedAddresses), ExpiresAt: in.ExpiresAt.UTC(),
	}
}

// ShownKey is a key with its text, which nobody is told again.
type ShownKey struct {
	bus.Result
	State identity.APIKey
	Text  secrets.Text
	// PreviousPrefix is that of the text before a rotation.
	PreviousPrefix string
}

// Issue makes a key for the organization of asked. The log has it first and its secret is stored afterwards, so that a
// refused request stores none; a stop in between leaves a key that opens nothing. A repeat under the same key of the
// request makes up for that, and is refused when the secret is stored already: only the lost answer had it. Fails:
// invalid_input, api_key_not_allowed, api_key_quota_reached, api_key_role, api_key_shown.
func (u APIKeys) Issue(ctx context.Context, asked usecases.Asked, in NewAPIKey) (ShownKey, error) {
	command := in.command()
	if err := command.Validate(); err != nil {
		return ShownKey{}, err
	}
	by, err := person(asked)
	if err != nil {
		return ShownKey{}, err
	}
	lock, err := u.Locks.Lock(ctx, "api keys of "+asked.Org().String()) // together they keep the bound
	if err != nil {
		return ShownKey{}, err
	}
	defer lock.Unlock()
	command.KeyID, command.OrgID = usecases.NewID[id.APIKey](asked, "api_key"), asked.Org()
	if err := u.mayIssue(ctx, command); err != nil {
		return ShownKey{}, err
	}
	secret := apikeys.New(usecases.NewID[id.APIKeySecret](asked, "api_key_secret"))
	command.SecretID, command.Prefix, command.By = secret.ID, u.Form.Prefix(secret.ID), by
	command.ByRole = events.Role(asked.Meta.Actor.Role)
	return u.tell(ctx, asked, command, command.KeyID, secret)
}

// mayIssue refuses a key beyond the bound, which one that is there already by a repeat is not. The caller holds the
// organization's lock. Fails: api_key_quota_reached.
func (u APIKeys) mayIssue(ctx context.Context, c commands.IssueAPIKey) error {
	head, err := u.Head(ctx)
	if err != nil {
		return err
	}
	if err := u.shown(ctx, head); err != nil {
		return err
	}
	if u.Directory.APIKeys(c.OrgID) < MaxAPIKeys {
		return nil
	}
	// Unchecked, because its id is made of the caller's key.
	made, _, err := bus.LoadUnchecked[identity.APIKey](ctx, u.Bus, c.KeyID)
	if err != nil || !made.Issued.KeyID.IsZero() {
		return err
	}
	return failure.NewConflict("api_key_quota_reached",
		"Your organization has as many API keys as it may have. Revoke one that is not used any more.")
}

// Rotate puts another secret in the place of the present one, which works on for the overlap; 0 = not at all. Whoever
// asks answers for the new secret. Of two who ask at once one is refused. Fails: invalid_input, api_key_not_found,
// api_key_not_allowed, api_key_over, api_key_rotated, api_key_role, api_key_rotations, api_key_shown.
func (u APIKeys) Rotate(
	ctx context.Context, asked usecases.Asked, key id.APIKey, overlap time.Duration,
) (ShownKey, error) {
	by, err := person(asked)
	if err != nil {
		return ShownKey{}, err
	}
	present, _, err := bus.LoadOwned[identity.APIKey](ctx, u.Bus, asked.Org(), key)
	if err != nil {
		return ShownKey{}, err
	}
	secret := apikeys.New(usecases.NewID[id.APIKeySecret](asked, "api_key_secret"))
	told, err := u.tell(ctx, asked, commands.RotateAPIKey{
		KeyID: key, From: present.Secret(), SecretID: secret.ID, Prefix: u.Form.Prefix(secret.ID), Overlap: overlap,
		By: by, ByRole: events.Role(asked.Meta.Actor.Role),
	}, key, secret)
	told.PreviousPrefix = present.Prefix()
	return told, err
}

// tell records that a key has a secret, stores it, and gives its text. A caller who leaves does not end it. Fails:
// api_key_shown, and as the command does.
func (u APIKeys) tell(
	ctx context.Context, asked usecases.Asked, command commands.Command, key id.APIKey, secret apikeys.Key,
) (ShownKey, error) {
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	if err != nil {
		return ShownKey{}, err
	}
	ctx = context.WithoutCancel(ctx)
	state, _, err := bus.LoadOwned[identity.APIKey](ctx, u.Bus, asked.Org(), key)
	if err != nil {
		return ShownKey{}, err
	}
	if state.Secret() != secret.ID { // a repeat, and another one has come since
		return ShownKey{}, commands.ErrAPIKeyRotated()
	}
	ends := state.Issued.ExpiresAt
	if !state.RevokedAt.IsZero() {
		ends = state.RevokedAt
	}
	stored, err := u.Secrets.Put(ctx, key, secret, ends)
	if err != nil {
		return ShownKey{}, err
	}
	if !stored {
		return ShownKey{}, failure.NewConflict("api_key_shown", "This API key was told to an earlier try of this "+
			"request, and is told once. Replace it by another one, or revoke it.")
	}
	if state.Rotations > 0 {
		if err := u.Secrets.End(ctx, key, secret.ID, state.Rotated.PreviousUntil); err != nil {
			return ShownKey{}, err
		}
	}
	return ShownKey{Result: done, State: state, Text: u.Form.Text(secret)}, u.shown(ctx, done.Position)
}

// Revoke ends a key at once: when it returns, no request with it passes at this program, and at others as soon as they
// have read the log. A revoked key stays as it is. Fails: api_key_not_found, api_key_not_allowed.
func (u APIKeys) Revoke(ctx context.Context, asked usecases.Asked, key id.APIKey) (bus.Result, error) {
	by, err := person(asked)
	if err != nil {
		return bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, commands.RevokeAPIKey{KeyID: key, By: by}, asked.Meta)
	if err != nil {
		return bus.Result{}, err
	}
	if err := u.DirectoryShows.WaitFor(ctx, done.Position); err != nil {
		return bus.Result{}, err
	}
	state, _, err := bus.LoadOwned[identity.APIKey](ctx, u.Bus, asked.Org(), key)
	if err != nil {
		return bus.Result{}, err
	}
	return done, u.Secrets.End(ctx, key, id.APIKeySecret{}, state.RevokedAt)
}

// shown waits until the directory has a position of the log. When it is far behind, a new key works a moment later.
func (u APIKeys) shown(ctx context.Context, position uint64) error {
	err := u.DirectoryShows.WaitFor(ctx, position)
	if errors.Is(err, runner.ErrBehind) {
		return nil
	}
	return err
}

// person is the signed-in person who asks. A key must not make others that outlive it. Fails: api_key_not_allowed.
func person(asked usecases.Asked) (id.User, error) {
	user, err := id.Parse[id.User](asked.Meta.Actor.ID)
	if err != nil || asked.Meta.Actor.Kind != events.ActorUser {
		return id.User{}, usecases.ErrPeopleOnly()
	}
	return user, nil
}
