package vault

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// States of a Registration. They are stored and never change.
const (
	AddressesUntried    = ""           // nobody tried, or the provider certainly took nothing
	AddressesUnrecorded = "unrecorded" // the token was issued by a program that did not record what became of it
	AddressesTried      = "tried"      // a registration was sent; nobody knows whether the provider took it
	AddressesRegistered = "registered" // the provider has them
	AddressesTaken      = "taken"      // the provider had or got addresses of this shortcode that are not this owner's
)

// Registration says what the provider has done with the addresses of a callback's owner, as far as we know. It is kept
// beside the token in those addresses: without the token they would be others
// (docs/rules/payments.md#registered-addresses).
type Registration struct {
	State     string // AddressesUntried and so on
	Addresses string // fingerprint of the addresses that State is about, "" when it was not recorded
	// Tried is the fingerprint of other addresses that were sent later and of which nobody knows whether the provider
	// took them, "" when there are none.
	Tried string
}

// SQL of registrations.
const (
	registrationSQL = `
select registration, addresses, tried from {schema}.callback_secrets where kind = $1 and ref = $2`
	noteRegistrationSQL = `
with former as (
	update {schema}.callback_secrets set registration = 'taken', addresses = '', tried = ''
	where kind = @kind and ref = any(@former::uuid[])
)
update {schema}.callback_secrets set registration = @state, addresses = @addresses, tried = @tried
where kind = @kind and ref = @ref`
	callbackOwnersSQL     = `select ref, org_id from {schema}.callback_secrets where kind = $1 and shortcode = $2`
	revokeUnusedSecretSQL = `
delete from {schema}.callback_secrets where kind = $1 and ref = $2 and registration not in ('tried', 'registered')`
)

// Registering waits until nobody else registers the addresses of an owner, in any replica, and keeps others waiting
// until done is called: two registrations at once would each take the other's try for an earlier one of its own.
func (s *CallbackSecrets) Registering(ctx context.Context, kind string, ref uuid.UUID) (done func(), err error) {
	lock, err := s.core.db.Lock(ctx, "callback registration "+kind+" "+ref.String())
	if err != nil {
		return nil, fmt.Errorf("register callback addresses: %w", err)
	}
	return lock.Unlock, nil
}

// Registration gives what is known of an owner's addresses; the zero value for an owner without a token.
func (s *CallbackSecrets) Registration(ctx context.Context, kind string, ref uuid.UUID) (Registration, error) {
	var r Registration
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(registrationSQL), kind, ref).Scan(&r.State, &r.Addresses, &r.Tried)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Registration{}, fmt.Errorf("read registration of callback addresses: %w", err)
	}
	return r, nil
}

// Owners lists all owners of tokens of a kind for a shortcode, in no order.
func (s *CallbackSecrets) Owners(ctx context.Context, kind, shortcode string) ([]CallbackOwner, error) {
	rows, err := s.core.db.Owner.Query(ctx, s.core.sql(callbackOwnersSQL), kind, shortcode)
	if err == nil {
		var list []CallbackOwner
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (CallbackOwner, error) {
			o := CallbackOwner{Kind: kind, Shortcode: shortcode}
			return o, row.Scan(&o.Ref, &o.OrgID)
		})
		if err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("list owners of callback tokens: %w", err)
}

// NoteRegistration records what is known now. Those of former, who are owners of the same kind, lose in the same step
// what was known of theirs: the provider has one pair of addresses of a shortcode, and it is not theirs any more. An
// owner without a token is an error.
func (s *CallbackSecrets) NoteRegistration(
	ctx context.Context, kind string, ref uuid.UUID, r Registration, former ...uuid.UUID,
) error {
	tag, err := s.core.db.Owner.Exec(ctx, s.core.sql(noteRegistrationSQL), pgx.NamedArgs{
		"kind": kind, "ref": ref, "state": r.State, "addresses": r.Addresses, "tried": r.Tried, "former": former,
	})
	if err == nil && tag.RowsAffected() == 0 {
		err = errors.New("the owner has no token")
	}
	if err != nil {
		return fmt.Errorf("note registration of callback addresses: %w", err)
	}
	return nil
}

// RevokeUnused makes an owner's token unknown unless the provider has it or may have it, and reports whether it did.
func (s *CallbackSecrets) RevokeUnused(ctx context.Context, kind string, ref uuid.UUID) (bool, error) {
	tag, err := s.core.db.Owner.Exec(ctx, s.core.sql(revokeUnusedSecretSQL), kind, ref)
	if err != nil {
		return false, fmt.Errorf("revoke unused callback token: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}
