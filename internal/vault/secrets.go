package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Secret names a stored secret, with its owner and its use. Events carry Ref only.
type Secret struct {
	Ref     id.Secret
	OrgID   id.Organization // zero for the platform's own
	Purpose string          // its use, such as "payment_credentials"; the encryption binds the value to it
}

// Secrets holds the credentials of routers and providers, sealed under the platform key.
type Secrets struct{ core *core }

// SQL of secrets. The insert leaves a row alone that has the reference already; ownSecretSQL says whose it is.
const (
	putSecretSQL = `
insert into {schema}.secrets (ref, org_id, purpose, sealed, updated_at) values ($1, $2, $3, $4, $5)
on conflict (ref) do nothing`
	ownSecretSQL = `
select exists (select from {schema}.secrets where ref = $1 and org_id is not distinct from $2 and purpose = $3)`
	getSecretSQL    = `select org_id, purpose, sealed from {schema}.secrets where ref = $1`
	getSecretsSQL   = `select ref, org_id, purpose, sealed from {schema}.secrets where ref = any($1)`
	deleteSecretSQL = `delete from {schema}.secrets where ref = $1`
	refuseSecretSQL = `
update {schema}.secrets set refused_since = $2 where ref = $1 and refused_since is null`
	acceptSecretSQL = `
update {schema}.secrets set refused_since = null where ref = $1 and refused_since is not null`
	secretRefusedSQL = `select refused_since from {schema}.secrets where ref = $1`
)

// Put stores a secret under a new reference. A reference that exists keeps its value: events refer to it, so another
// value needs another reference and an event of its own. To store it again is the repeat of a request whose answer was
// lost, and no error. Fails: secret_ref_taken, when the reference belongs to another owner or purpose.
func (s *Secrets) Put(ctx context.Context, secret Secret, plaintext []byte) error {
	sealed := s.core.ring.Seal(secrets.Sealing, plaintext, secretPlace(secret))
	tag, err := s.core.db.Owner.Exec(ctx, s.core.sql(putSecretSQL), secret.Ref, secret.OrgID, secret.Purpose, sealed,
		s.core.now())
	if err != nil {
		return fmt.Errorf("put secret %s: %w", secret.Ref, err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	var own bool
	err = s.core.db.Owner.QueryRow(ctx, s.core.sql(ownSecretSQL), secret.Ref, secret.OrgID, secret.Purpose).Scan(&own)
	if err != nil {
		return fmt.Errorf("put secret %s: %w", secret.Ref, err)
	}
	if !own {
		return failure.NewConflict("secret_ref_taken", "This reference belongs to another secret.")
	}
	return nil
}

// Get decrypts a secret. Fails: secret_not_found.
func (s *Secrets) Get(ctx context.Context, ref id.Secret) ([]byte, error) {
	secret := Secret{Ref: ref}
	var sealed []byte
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(getSecretSQL), ref).Scan(&secret.OrgID, &secret.Purpose, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, failure.NewNotFound("secret_not_found", "There is no such stored secret.")
	}
	if err != nil {
		return nil, fmt.Errorf("get secret %s: %w", ref, err)
	}
	plaintext, err := s.core.ring.Open(secrets.Sealing, sealed, secretPlace(secret))
	if err != nil {
		return nil, fmt.Errorf("get secret %s: %w", ref, err)
	}
	return plaintext, nil
}

// GetAll decrypts many secrets in one query. Those that do not exist are left out, and so are those that cannot be
// decrypted, with an error that names them. Only without an answer of the database the map is nil.
func (s *Secrets) GetAll(ctx context.Context, refs []id.Secret) (map[id.Secret][]byte, error) {
	rows, err := s.core.db.Owner.Query(ctx, s.core.sql(getSecretsSQL), refs)
	if err != nil {
		return nil, fmt.Errorf("get %d secrets: %w", len(refs), err)
	}
	defer rows.Close()
	found := make(map[id.Secret][]byte, len(refs))
	var unreadable error
	for rows.Next() {
		var secret Secret
		var sealed []byte
		if err := rows.Scan(&secret.Ref, &secret.OrgID, &secret.Purpose, &sealed); err != nil {
			return nil, fmt.Errorf("get secrets: %w", err)
		}
		plaintext, err := s.core.ring.Open(secrets.Sealing, sealed, secretPlace(secret))
		if err != nil {
			unreadable = errors.Join(unreadable, fmt.Errorf("get secret %s: %w", secret.Ref, err))
			continue
		}
		found[secret.Ref] = plaintext
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("get %d secrets: %w", len(refs), err)
	}
	return found, unreadable
}

// Delete removes a secret for good. A missing one is no error.
func (s *Secrets) Delete(ctx context.Context, ref id.Secret) error {
	if _, err := s.core.db.Owner.Exec(ctx, s.core.sql(deleteSecretSQL), ref); err != nil {
		return fmt.Errorf("delete secret %s: %w", ref, err)
	}
	return nil
}

// Refused notes that the other side does not accept a secret, from now on or still.
func (s *Secrets) Refused(ctx context.Context, ref id.Secret) error {
	if _, err := s.core.db.Owner.Exec(ctx, s.core.sql(refuseSecretSQL), ref, s.core.now()); err != nil {
		return fmt.Errorf("note that secret %s is refused: %w", ref, err)
	}
	return nil
}

// Accepted notes that the other side accepts a secret.
func (s *Secrets) Accepted(ctx context.Context, ref id.Secret) error {
	if _, err := s.core.db.Owner.Exec(ctx, s.core.sql(acceptSecretSQL), ref); err != nil {
		return fmt.Errorf("note that secret %s is accepted: %w", ref, err)
	}
	return nil
}

// RefusedSince gives since when the other side does not accept a secret; nil = it does, or there is no such secret.
func (s *Secrets) RefusedSince(ctx context.Context, ref id.Secret) (*time.Time, error) {
	var since *time.Time
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(secretRefusedSQL), ref).Scan(&since)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read whether secret %s is refused: %w", ref, err)
	}
	if since != nil {
		*since = since.UTC()
	}
	return since, nil
}

// secretPlace is the associated data of a sealed secret: its reference, its owner and its purpose.
func secretPlace(s Secret) []byte {
	return []byte("secrets " + s.Ref.String() + " " + s.OrgID.String() + " " + s.Purpose)
}
