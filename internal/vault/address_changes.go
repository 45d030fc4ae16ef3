package vault

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// AddressChange is the wish of a user for another address.
type AddressChange struct {
	ID      id.Any `json:"-"`
	Before  string `json:"before"`  // the address that takes the first code
	By      string `json:"by"`      // the channel of Before
	Next    string `json:"next"`    // the address that is wished for, and takes the second code
	Channel string `json:"channel"` // of Next: "email" or "sms"
}

// SQL of address changes.
const (
	wishAddressSQL = `
insert into {schema}.address_changes (user_id, id, sealed, asked_at) values ($1, $2, $3, $4)
on conflict (user_id) do update set id = $2, sealed = $3, asked_at = $4`
	getAddressSQL       = `select id, sealed from {schema}.address_changes where user_id = $1 and asked_at > $2`
	dropAddressSQL      = `delete from {schema}.address_changes where user_id = $1 and id = $2`
	purgeAddressesSQL   = `delete from {schema}.address_changes where asked_at <= $1`
	addressChangePlaces = "address_changes "
)

// WishAddress keeps what a user wishes; a wish of before is void, with its codes.
func (c *Codes) WishAddress(ctx context.Context, user id.User, w AddressChange) (id.Any, error) {
	change := id.New[id.Any]()
	plain, err := json.Marshal(w)
	if err != nil {
		return id.Any{}, fmt.Errorf("write address change: %w", err)
	}
	sealed := c.core.ring.Seal(secrets.Sealing, plain, []byte(addressChangePlaces+change.String()))
	if _, err := c.core.db.Owner.Exec(ctx, c.core.sql(wishAddressSQL), user, change, sealed, c.core.now()); err != nil {
		return id.Any{}, fmt.Errorf("keep address change: %w", err)
	}
	return change, nil
}

// WishedAddress reads what a user wishes; nil when there is nothing, or not any more.
func (c *Codes) WishedAddress(ctx context.Context, user id.User) (*AddressChange, error) {
	var w AddressChange
	var sealed []byte
	err := c.core.db.Owner.QueryRow(ctx, c.core.sql(getAddressSQL), user, c.core.now().Add(-codesKept)).
		Scan(&w.ID, &sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read address change: %w", err)
	}
	plain, err := c.core.ring.Open(secrets.Sealing, sealed, []byte(addressChangePlaces+w.ID.String()))
	if err == nil {
		err = json.Unmarshal(plain, &w)
	}
	if err != nil {
		return nil, fmt.Errorf("open address change: %w", err)
	}
	return &w, nil
}

// UseBoth tries the two codes of a change, and uses both up when both are right. The third wrong pair voids them.
func (c *Codes) UseBoth(
	ctx context.Context, user id.User, change id.Any, before, next secrets.Text,
) (right bool, err error) {
	err = pgx.BeginFunc(ctx, c.core.db.Owner, func(tx pgx.Tx) error {
		right = true
		var requests []id.Any
		for _, of := range []struct {
			purpose CodePurpose
			code    secrets.Text
		}{{CodeToAddressBefore, before}, {CodeToAddressNext, next}} {
			var request id.Any
			var want []byte
			key := c.keyOf(CodeWish{Purpose: of.purpose, Change: change})
			err := tx.QueryRow(ctx, c.core.sql(tryCodeSQL), key, c.core.now(), CodeTries).Scan(&request, &want)
			none := errors.Is(err, pgx.ErrNoRows)
			if err != nil && !none {
				return err
			}
			right = hmac.Equal(c.codeOf(request, of.code), want) && !none && right
			requests = append(requests, request)
		}
		if !right {
			return nil // the tries are committed
		}
		for _, request := range requests {
			if _, err := tx.Exec(ctx, c.core.sql(useCodeSQL), request); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, c.core.sql(dropAddressSQL), user, change)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("try codes of address change: %w", err)
	}
	return right, nil
}

// purgeAddresses removes changes that nobody has completed.
func (c *Codes) purgeAddresses(ctx context.Context, before time.Time) error {
	if _, err := c.core.db.Owner.Exec(ctx, c.core.sql(purgeAddressesSQL), before); err != nil {
		return fmt.Errorf("remove old address changes: %w", err)
	}
	return nil
}
