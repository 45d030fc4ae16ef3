package vault

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/totp"
)

// How long an offered secret waits for its first code, how often that may be tried, and how many recovery codes there
// are (docs/rules/identity.md#enrolment).
const (
	FactorOfferTTL   = 15 * time.Minute
	FactorOfferTries = 5
	RecoveryCodes    = 10
)

// recoverySize is that of a recovery code, in bytes: 50 bits and the rest of the last character.
const recoverySize = 7

// factorKeys is the purpose of the HMAC key for recovery codes.
const factorKeys secrets.Purpose = "second factors"

// SecondFactors keeps the secrets of second factors, sealed, and recovery codes as HMACs. Which of them counts the log
// says. Safe for concurrent use.
type SecondFactors struct {
	core *core
	key  []byte
}

// SQL of second factors. The row of an offer is locked while its code is compared, and a step is used by whoever moves
// last_step first, so that of the same code at two programs one counts.
const (
	offerFactorSQL = `
insert into {schema}.second_factor_offers (user_id, factor_id, sealed, made_at) values ($1, $2, $3, $4)
on conflict (user_id) do update set factor_id = $2, sealed = $3, made_at = $4, tries = 0`
	tryOfferSQL = `
update {schema}.second_factor_offers set tries = tries + 1 where user_id = $1 and made_at > $2 and tries < $3
returning factor_id, sealed`
	dropOfferSQL = `delete from {schema}.second_factor_offers where user_id = $1`
	addFactorSQL = `
insert into {schema}.second_factors (id, user_id, sealed, last_step, confirmed_at) values ($1, $2, $3, $4, $5)`
	addRecoverySQL = `
insert into {schema}.recovery_codes (factor_id, hash) select $1, h from unnest($2::bytea[]) as h`
	getFactorSQL      = `select sealed, last_step from {schema}.second_factors where id = $1`
	useStepSQL        = `update {schema}.second_factors set last_step = $2 where id = $1 and last_step < $2`
	useRecoverySQL    = `delete from {schema}.recovery_codes where factor_id = $1 and hash = $2`
	countRecoverySQL  = `select count(*) from {schema}.recovery_codes where factor_id = $1`
	dropFactorSQL     = `delete from {schema}.second_factors where id = $1`
	purgeOffersOldSQL = `delete from {schema}.second_factor_offers where made_at <= $1`
)

// factorPlace binds a sealed secret to its factor; it is the same while the factor is offered.
func factorPlace(factor id.SecondFactor) []byte { return []byte("second_factors " + factor.String()) }

// Offer makes a secret for a user, who shows a code of it next. It replaces one that was offered before.
func (f *SecondFactors) Offer(ctx context.Context, user id.User) ([]byte, error) {
	factor, secret := id.New[id.SecondFactor](), totp.NewSecret()
	sealed := f.core.ring.Seal(secrets.Sealing, secret, factorPlace(factor))
	if _, err := f.core.db.Owner.Exec(ctx, f.core.sql(offerFactorSQL), user, factor, sealed, f.core.now()); err != nil {
		return nil, fmt.Errorf("offer second factor: %w", err)
	}
	return secret, nil
}

// ConfirmedFactor is a second factor whose first code was right, with its recovery codes.
type ConfirmedFactor struct {
	ID    id.SecondFactor // zero = the code was wrong, or nothing is offered
	Codes []secrets.Text
}

// Confirm takes the first code of an offered secret, keeps the secret, and makes the recovery codes. The fifth wrong
// code withdraws the offer.
func (f *SecondFactors) Confirm(
	ctx context.Context, user id.User, code secrets.Text,
) (confirmed ConfirmedFactor, err error) {
	err = pgx.BeginFunc(ctx, f.core.db.Owner, func(tx pgx.Tx) error {
		confirmed = ConfirmedFactor{}
		now := f.core.now()
		var factor id.SecondFactor
		var sealed []byte
		err := tx.QueryRow(ctx, f.core.sql(tryOfferSQL), user, now.Add(-FactorOfferTTL), FactorOfferTries).
			Scan(&factor, &sealed)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		secret, err := f.core.ring.Open(secrets.Sealing, sealed, factorPlace(factor))
		if err != nil {
			return err
		}
		step, right := totp.Match(secret, code, now, 0)
		if !right {
			return nil // the try is committed
		}
		codes, hashes := f.newRecovery(factor)
		batch := &pgx.Batch{}
		batch.Queue(f.core.sql(dropOfferSQL), user)
		batch.Queue(f.core.sql(addFactorSQL), factor, user, sealed, step, now)
		batch.Queue(f.core.sql(addRecoverySQL), factor, hashes)
		confirmed = ConfirmedFactor{ID: factor, Codes: codes}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return ConfirmedFactor{}, fmt.Errorf("confirm second factor: %w", err)
	}
	return confirmed, nil
}

// recoveryForm writes recovery codes in letters and digits that nobody takes for another one.
var recoveryForm = base32.NewEncoding("abcdefghjkmnpqrstvwxyz0123456789").WithPadding(base32.NoPadding)

// newRecovery makes recovery codes, as people keep them and as they are stored.
func (f *SecondFactors) newRecovery(factor id.SecondFactor) (codes []secrets.Text, hashes [][]byte) {
	for range RecoveryCodes {
		random := make([]byte, recoverySize)
		_, _ = rand.Read(random) // never fails
		text := recoveryForm.EncodeToString(random)[:10]
		codes = append(codes, secrets.Text(text[:5]+"-"+text[5:]))
		hashes = append(hashes, f.recoveryOf(factor, secrets.Text(text)))
	}
	return codes, hashes
}

// recoveryOf stands for a recovery code in the table, whichever way it was typed.
func (f *SecondFactors) recoveryOf(factor id.SecondFactor, code secrets.Text) []byte {
	typed := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(code.Reveal()))
	return mac(f.key, "recovery", factor.String(), typed)
}

// Use uses up a code of a factor's device: false for a wrong one, and for one that was used before.
func (f *SecondFactors) Use(ctx context.Context, factor id.SecondFactor, code secrets.Text) (bool, error) {
	var sealed []byte
	var last int64
	err := f.core.db.Owner.QueryRow(ctx, f.core.sql(getFactorSQL), factor).Scan(&sealed, &last)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read second factor: %w", err)
	}
	secret, err := f.core.ring.Open(secrets.Sealing, sealed, factorPlace(factor))
	if err != nil {
		return false, fmt.Errorf("open second factor: %w", err)
	}
	step, right := totp.Match(secret, code, f.core.now(), last)
	if !right {
		return false, nil
	}
	done, err := f.core.db.Owner.Exec(ctx, f.core.sql(useStepSQL), factor, step)
	if err != nil {
		return false, fmt.Errorf("use second factor: %w", err)
	}
	return done.RowsAffected() == 1, nil
}

// UseRecovery uses up a recovery code of a factor, and counts those that are left.
func (f *SecondFactors) UseRecovery(
	ctx context.Context, factor id.SecondFactor, code secrets.Text,
) (left int, right bool, err error) {
	if len(code.Reveal()) > maxToken {
		return 0, false, nil
	}
	done, err := f.core.db.Owner.Exec(ctx, f.core.sql(useRecoverySQL), factor, f.recoveryOf(factor, code))
	if err != nil {
		return 0, false, fmt.Errorf("use recovery code: %w", err)
	}
	if done.RowsAffected() == 0 {
		return 0, false, nil
	}
	left, err = f.Left(ctx, factor)
	return left, true, err
}

// Left counts the recovery codes of a factor.
func (f *SecondFactors) Left(ctx context.Context, factor id.SecondFactor) (left int, err error) {
	if err := f.core.db.Owner.QueryRow(ctx, f.core.sql(countRecoverySQL), factor).Scan(&left); err != nil {
		return 0, fmt.Errorf("count recovery codes: %w", err)
	}
	return left, nil
}

// Drop forgets a factor and its recovery codes. One that is not there is no error.
func (f *SecondFactors) Drop(ctx context.Context, factor id.SecondFactor) error {
	if _, err := f.core.db.Owner.Exec(ctx, f.core.sql(dropFactorSQL), factor); err != nil {
		return fmt.Errorf("drop second factor: %w", err)
	}
	return nil
}

// Purge removes offers and sign-ins that nobody has completed.
func (f *SecondFactors) Purge(ctx context.Context) error {
	_, err := f.core.db.Owner.Exec(ctx, f.core.sql(purgeOffersOldSQL), f.core.now().Add(-FactorOfferTTL))
	if err == nil {
		_, err = f.core.db.Owner.Exec(ctx, f.core.sql(purgeWaitingSQL), f.core.now())
	}
	if err != nil {
		return fmt.Errorf("remove old second factors: %w", err)
	}
	return nil
}
