package cpecases

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// UploadPath is where CPEs send the files of upload tests, followed by a token.
const UploadPath = "/cpe-uploads/"

// MaxUpload bounds what one upload test may send, in bytes: twice what it is asked for.
const MaxUpload = 20_000_000

// Uploads takes upload tests of CPEs. The address of a test has a token, which is kept with the values of its operation
// alone and so ends with it. All fields are required. Safe for concurrent use.
type Uploads struct {
	Secrets *vault.Secrets
	// Count notes how many bytes have come.
	Count func(ctx context.Context, operation id.CPEOperation, bytes int64) error
}

// uploadAddress makes the address of an upload test: the operation, and a secret of 16 bytes behind it.
func uploadAddress(base string, operation id.CPEOperation) string {
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	of := operation.UUID()
	return strings.TrimRight(base, "/") + UploadPath + hex.EncodeToString(of[:]) + hex.EncodeToString(secret)
}

// Open gives the operation of a token. Fails: not_found.
func (u Uploads) Open(ctx context.Context, token string) (id.CPEOperation, error) {
	raw, err := hex.DecodeString(token)
	if err != nil || len(raw) != 32 || token != strings.ToLower(token) {
		return id.CPEOperation{}, commands.ErrNotFound()
	}
	operation := id.CPEOperation(uuid.UUID(raw[:16]))
	kept, err := u.Secrets.Get(ctx, valuesRef(operation))
	if failure.KindOf(err) == failure.NotFound {
		return id.CPEOperation{}, commands.ErrNotFound()
	}
	if err != nil {
		return id.CPEOperation{}, err
	}
	var values commands.CpeValues
	if err := json.Unmarshal(kept, &values); err != nil {
		return id.CPEOperation{}, fmt.Errorf("values of operation %s cannot be read", operation) // the cause has them
	}
	_, own, _ := strings.Cut(values.URL, UploadPath)
	given, wanted := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(own))
	if subtle.ConstantTimeCompare(given[:], wanted[:]) != 1 {
		return id.CPEOperation{}, commands.ErrNotFound()
	}
	return operation, nil
}

// valuesRef is where the vault has the values of an operation.
func valuesRef(of id.CPEOperation) id.Secret {
	return id.Derive[id.Secret]("cpe operation", of.String())
}
