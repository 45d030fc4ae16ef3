package vault

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// How long a code is valid, how often it may be tried, and how long a proven address waits for the choice of an
// organization (docs/rules/identity.md#codes).
const (
	CodeTTL     = 5 * time.Minute
	CodeTries   = 3
	VerifiedTTL = 5 * time.Minute
)

// codeKeys is the purpose of the HMAC key for addresses and codes, neither of which is stored as it is.
const codeKeys secrets.Purpose = "codes"

// Codes keeps one-time codes. For each address at a host there is one: a further request voids the code of before. Safe
// for concurrent use.
type Codes struct {
	core *core
	key  []byte
}

// CodePurpose says what a message of the codes is for: a code opens nothing but what it was asked for.
type CodePurpose string

// The purposes: to sign in, the two codes of a change of an address, and the note about it that follows.
const (
	CodeToSignIn        CodePurpose = ""
	CodeToAddressBefore CodePurpose = "address_before"
	CodeToAddressNext   CodePurpose = "address_next"
	NoteOfAddressChange CodePurpose = "address_changed"
)

// CodeWish asks for a code, or for a note.
type CodeWish struct {
	OrgID   id.Organization // whose host it is for; zero = the root host
	Channel string
	Address string
	Purpose CodePurpose
	Change  id.Any // of the address; zero = to sign in
}

// CodeRequest is a wish for a code.
type CodeRequest struct {
	OrgID   id.Organization `db:"org_id"` // whose host it is for; zero = the root host
	Channel string          `db:"channel"`
	Purpose CodePurpose     `db:"purpose"`
	Address string          `db:"-"`
	AskedAt time.Time       `db:"asked_at"`
	Sealed  []byte          `db:"sealed"`
}

// SQL of codes. The row is locked while a try is counted, so that of parallel guesses no more than CodeTries count.
const (
	askCodeSQL = `
insert into {schema}.codes (key, request, org_id, channel, purpose, sealed, asked_at)
values (@key, @request, @org, @channel, @purpose, @sealed, @now)
on conflict (key) do update set request = @request, channel = @channel, sealed = @sealed, asked_at = @now, code = null,
	expires_at = null, tries = 0`
	openCodeSQL = `select org_id, channel, purpose, asked_at, sealed from {schema}.codes where request = $1`
	makeCodeSQL = `
update {schema}.codes set code = $2, expires_at = $3, tries = 0 where request = $1`
	tryCodeSQL = `
update {schema}.codes set tries = tries + 1 where key = $1 and code is not null and expires_at > $2 and tries < $3
returning request, code`
	useCodeSQL    = `delete from {schema}.codes where request = $1`
	purgeCodesSQL = `delete from {schema}.codes where asked_at < $1`

	putVerifiedSQL    = `insert into {schema}.verified (hash, sealed, expires_at) values ($1, $2, $3)`
	takeVerifiedSQL   = `delete from {schema}.verified where hash = $1 returning sealed, expires_at`
	purgeVerifiedSQL  = `delete from {schema}.verified where expires_at <= $1`
	codesKept         = time.Hour // longer than any job sends a code
	codePlaceWord     = "codes "
	verifiedPlaceWord = "verified "
)

// keyOf is the key of an address at a host, or of one code of a change.
func (c *Codes) keyOf(w CodeWish) []byte {
	if w.Purpose != CodeToSignIn {
		return mac(c.key, "change", w.Change.String(), string(w.Purpose))
	}
	return mac(c.key, "address", w.OrgID.String(), w.Address)
}

// Ask notes a wish for a code, and voids the one of before. It does the same work for every address.
func (c *Codes) Ask(ctx context.Context, w CodeWish) (id.Any, error) {
	request := id.New[id.Any]()
	sealed := c.core.ring.Seal(secrets.Sealing, []byte(w.Address), []byte(codePlaceWord+request.String()))
	_, err := c.core.db.Owner.Exec(ctx, c.core.sql(askCodeSQL), pgx.NamedArgs{
		"key": c.keyOf(w), "request": request, "org": w.OrgID, "channel": w.Channel, "purpose": w.Purpose,
		"sealed": sealed, "now": c.core.now(),
	})
	if err != nil {
		return id.Any{}, fmt.Errorf("ask for code: %w", err)
	}
	return request, nil
}

// Open reads a wish; nil when it is over, or another one came after it.
func (c *Codes) Open(ctx context.Context, request id.Any) (*CodeRequest, error) {
	rows, _ := c.core.db.Owner.Query(ctx, c.core.sql(openCodeSQL), request)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[CodeRequest])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read wish for code: %w", err)
	}
	address, err := c.core.ring.Open(secrets.Sealing, found.Sealed, []byte(codePlaceWord+request.String()))
	if err != nil {
		return nil, fmt.Errorf("open address of code: %w", err)
	}
	found.Address, found.AskedAt = string(address), found.AskedAt.UTC()
	return &found, nil
}

// Make makes the code of a wish, valid from now on; a code of the same wish that was made before is void. It is "" when
// the wish is over.
func (c *Codes) Make(ctx context.Context, request id.Any) (secrets.Text, error) {
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("make code: %w", err)
	}
	code := secrets.Text(fmt.Sprintf("%06d", number))
	done, err := c.core.db.Owner.Exec(ctx, c.core.sql(makeCodeSQL), request, c.codeOf(request, code),
		c.core.now().Add(CodeTTL))
	if err != nil {
		return "", fmt.Errorf("store code: %w", err)
	}
	if done.RowsAffected() == 0 {
		return "", nil
	}
	return code, nil
}

// codeOf stands for a code in the table.
func (c *Codes) codeOf(request id.Any, code secrets.Text) []byte {
	return mac(c.key, "code", request.String(), code.Reveal())
}

// Use tries a code of an address at a host, and uses it up when it is right. The third wrong one voids it.
func (c *Codes) Use(ctx context.Context, org id.Organization, address string, code secrets.Text) (bool, error) {
	var request id.Any
	var want []byte
	key := c.keyOf(CodeWish{OrgID: org, Address: address})
	err := c.core.db.Owner.QueryRow(ctx, c.core.sql(tryCodeSQL), key, c.core.now(), CodeTries).
		Scan(&request, &want)
	none := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !none {
		return false, fmt.Errorf("try code: %w", err)
	}
	right := hmac.Equal(c.codeOf(request, code), want)
	if none || !right {
		return false, nil
	}
	done, err := c.core.db.Owner.Exec(ctx, c.core.sql(useCodeSQL), request)
	if err != nil {
		return false, fmt.Errorf("use code: %w", err)
	}
	return done.RowsAffected() == 1, nil // of two at the same moment one
}

// Drop forgets a wish that leads to nothing.
func (c *Codes) Drop(ctx context.Context, request id.Any) error {
	if _, err := c.core.db.Owner.Exec(ctx, c.core.sql(useCodeSQL), request); err != nil {
		return fmt.Errorf("drop wish for code: %w", err)
	}
	return nil
}

// Verified makes a token that stands for a proven address until an organization is chosen.
func (c *Codes) Verified(ctx context.Context, address string) (secrets.Text, error) {
	token := newToken()
	hash := hashToken(token)
	_, err := c.core.db.Owner.Exec(ctx, c.core.sql(putVerifiedSQL), hash,
		c.core.ring.Seal(secrets.Sealing, []byte(address), verifiedPlace(hash)), c.core.now().Add(VerifiedTTL))
	if err != nil {
		return "", fmt.Errorf("keep proven address: %w", err)
	}
	return token, nil
}

// verifiedPlace binds a sealed address to its row.
func verifiedPlace(hash []byte) []byte { return []byte(verifiedPlaceWord + hex.EncodeToString(hash)) }

// TakeVerified uses a token up and gives its address; "" for one that is unknown, used or too old.
func (c *Codes) TakeVerified(ctx context.Context, token secrets.Text) (string, error) {
	if len(token.Reveal()) > maxToken {
		return "", nil
	}
	hash := hashToken(token)
	var sealed []byte
	var until time.Time
	err := c.core.db.Owner.QueryRow(ctx, c.core.sql(takeVerifiedSQL), hash).Scan(&sealed, &until)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("take proven address: %w", err)
	case !c.core.now().Before(until):
		return "", nil
	}
	address, err := c.core.ring.Open(secrets.Sealing, sealed, verifiedPlace(hash))
	if err != nil {
		return "", fmt.Errorf("open proven address: %w", err)
	}
	return string(address), nil
}

// Purge removes what has expired.
func (c *Codes) Purge(ctx context.Context) error {
	_, err := c.core.db.Owner.Exec(ctx, c.core.sql(purgeCodesSQL), c.core.now().Add(-codesKept))
	if err == nil {
		_, err = c.core.db.Owner.Exec(ctx, c.core.sql(purgeVerifiedSQL), c.core.now())
	}
	if err != nil {
		return fmt.Errorf("remove old codes: %w", err)
	}
	return c.purgeAddresses(ctx, c.core.now().Add(-codesKept))
}
