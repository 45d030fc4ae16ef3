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
	AddressesTaken      = "taken"      // the provider had addresses of this shortcode before any of ours
)

// Registration says what the provider has done with the addresses of a callback's owner, as far as we know. It is kept
// beside the token in those addresses: without the token they would be others
// (docs/rules/payments.md#registered-addresses).
type Registration struct {
	State     string // AddressesUntried and so on
	Addresses string // fingerprint of the addresses that State is about, "" when it was not recorded
}

// SQL of registrations.
const (
	registrationSQL     = `select registration, addresses from {schema}.callback_secrets where kind = $1 and ref = $2`
	noteRegistrationSQL = `
update {schema}.callback_secrets set registration = $3, addresses = $4 where kind = $1 and ref = $2`
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
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(registrationSQL), kind, ref).Scan(&r.State, &r.Addresses)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Registration{}, fmt.Errorf("read registration of callback addresses: %w", err)
	}
	return r, nil
}

// NoteRegistration records what is known now. An owner without a token is an error.
func (s *CallbackSecrets) NoteRegistration(ctx context.Context, kind string, ref uuid.UUID, r Registration) error {
	tag, err := s.core.db.Owner.Exec(ctx, s.core.sql(noteRegistrationSQL), kind, ref, r.State, r.Addresses)
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
