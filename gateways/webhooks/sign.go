package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// secretPrefix begins every secret; base64 follows.
const secretPrefix = "whsec_"

// Sign gives the header of a delivery: a signature for each secret, separated by spaces. A text that is no secret signs
// nothing. Source: Standard Webhooks, Signature scheme.
func Sign(message string, at time.Time, body []byte, with ...secrets.Text) string {
	var list []string
	for _, secret := range with {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret.Reveal(), secretPrefix))
		if err != nil || len(key) == 0 {
			continue
		}
		sum := hmac.New(sha256.New, key)
		for _, part := range []string{message, ".", strconv.FormatInt(at.Unix(), 10), "."} {
			_, _ = sum.Write([]byte(part)) // a hash takes everything
		}
		_, _ = sum.Write(body)
		list = append(list, "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return strings.Join(list, " ")
}
