package chaos_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

// An authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	n    int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name+".pem") }

// sign writes a certificate of a name, and its key. The first is the authority's own.
func (a *authority) sign(name string, of *x509.Certificate) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	a.n++
	of.SerialNumber, of.Subject = big.NewInt(a.n), pkix.Name{CommonName: name}
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if a.cert == nil {
		a.cert, a.key = of, key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	if a.cert == of {
		a.cert, err = x509.ParseCertificate(der)
		require.NoError(a.t, err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for name, block := range map[string]*pem.Block{
		name: {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		require.NoError(a.t, os.WriteFile(a.file(name), pem.EncodeToMemory(block), 0o600))
	}
}

// config returns what a client of that name connects with: without one, no certificate.
func (a *authority) config(name string) *tls.Config {
	a.t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	c.RootCAs.AddCert(a.cert)
	if name != "" {
		a.sign(name, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		cert, err := tls.LoadX509KeyPair(a.file(name), a.file(name+".key"))
		require.NoError(a.t, err)
		c.Certificates = []tls.Certificate{cert}
	}
	return c
}

// Members demand certificates, and users may read and write under one prefix alone.
func TestTLS(t *testing.T) {
	ca := newAuthority(t)
	ca.sign("member", &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	c := start(t, cluster.Options{TLS: &cluster.TLS{
		Cert: ca.file("member"), Key: ca.file("member.key"), CA: ca.file("ca"), Client: ca.config("root"),
	}})
	ctx, admin := t.Context(), direct(t, c)
	_, err := admin.RoleAdd(ctx, "jobs")
	require.NoError(t, err)
	_, err = admin.RoleGrantPermission(ctx, "jobs", "apps/jobs/", clientv3.GetPrefixRangeEnd("apps/jobs/"), clientv3.PermissionType(clientv3.PermReadWrite))
	require.NoError(t, err)
	_, err = admin.RoleAdd(ctx, "root")
	require.NoError(t, err)
	for user, role := range map[string]string{"root": "root", "jobs": "jobs"} {
		_, err = admin.UserAdd(ctx, user, "secret")
		require.NoError(t, err)
		_, err = admin.UserGrantRole(ctx, user, role)
		require.NoError(t, err)
	}
	_, err = admin.AuthEnable(ctx)
	require.NoError(t, err)

	as := func(certificate, user string) *clientv3.Client {
		of := clientv3.Config{Endpoints: []string{c.Members[0].Proxy.Endpoint()}, TLS: ca.config(certificate), Logger: zap.NewNop()}
		if user != "" {
			of.Username, of.Password = user, "secret"
		}
		is, err := clientv3.New(of)
		require.NoError(t, err)
		t.Cleanup(func() { _ = is.Close() })
		return is
	}
	byPassword := openTexts(t, as("machine", "jobs"), "apps/jobs", quick)
	byCertificate := openTexts(t, as("jobs", ""), "apps/jobs", quick)
	for i, s := range []*texts{byPassword, byCertificate} {
		_, err := s.table.Set("k", string(rune('a'+i)))
		require.NoError(t, err)
		other := []*texts{byCertificate, byPassword}[i]
		_, err = other.replica.Fresh(ctx)
		require.NoError(t, err)
		v, _ := other.table.Get("k")
		require.Equal(t, string(rune('a'+i)), v)
	}

	require.ErrorIs(t, newBank().open(ctx, as("jobs", ""), "apps/other", quick), rpctypes.ErrPermissionDenied)
	require.ErrorIs(t, newBank().open(ctx, as("jobs", ""), "apps", quick), rpctypes.ErrPermissionDenied)
	soon, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, newBank().open(soon, as("", ""), "apps/jobs", quick), context.DeadlineExceeded, "without a certificate")
}
