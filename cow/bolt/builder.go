package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
)

// A builder makes a file under a temporary name.
type builder struct {
	state   *state
	temp    string
	mode    fs.FileMode
	like    os.FileInfo // whose owner and group the file gets; nil: none's
	bolt    *bbolt.DB
	tx      *bbolt.Tx
	pending int // bytes in tx
}

func newBuilder(path string, mode fs.FileMode, like os.FileInfo, s *state) (*builder, error) {
	temp, err := createTemp(path)
	if err != nil {
		return nil, err
	}
	b := &builder{state: s.clone(), temp: temp.Name(), mode: mode, like: like}
	b.state.log, b.state.pins, b.state.ofPins = tally{}, nil, tally{}
	for i := range b.state.tables {
		b.state.tables[i].tally = tally{}
	}
	if err = temp.Close(); err == nil {
		b.bolt, err = bbolt.Open(b.temp, 0, &bbolt.Options{FreelistType: bbolt.FreelistArrayType, NoStatistics: true})
	}
	if err == nil {
		err = b.begin()
	}
	if err != nil {
		b.abort()
		return nil, err
	}
	return b, nil
}

func (b *builder) begin() (err error) {
	if b.tx, err = b.bolt.Begin(true); err != nil {
		return err
	}
	return makeBuckets(b.tx, b.state)
}

// makeBuckets makes the buckets that a file with this state has.
func makeBuckets(tx *bbolt.Tx, s *state) error {
	for _, name := range [][]byte{metaBucket, logBucket} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	for id, t := range s.tables {
		if _, err := tx.CreateBucketIfNotExists(tableBucket(id, t.name)); err != nil {
			return err
		}
	}
	return nil
}

// put puts a value into a bucket.
func (b *builder) put(bucket, key, value []byte) error {
	const atOnce = 16 << 20
	if b.pending += len(key) + len(value); b.pending > atOnce {
		b.pending = 0
		if err := b.tx.Commit(); err != nil {
			return err
		}
		if err := b.begin(); err != nil {
			return err
		}
	}
	to := b.tx.Bucket(bucket)
	to.FillPercent = 0.9 // keys come in their order
	return to.Put(key, value)
}

func (b *builder) row(table int, key []byte, r row) error {
	t := &b.state.tables[table]
	bucket, key := tableBucket(table, t.name), rowKey(key)
	seal, value := sealOf(bucket), r.append(nil)
	t.add(seal.sum(key, value), r.revision)
	return b.put(bucket, key, seal.close(key, value))
}

// pinned adds a row that is kept for a pin, which must be there.
func (b *builder) pinned(version uint64, table int, key []byte, r row) error {
	bucket, key := pinBucket(version, table), rowKey(key)
	if _, err := b.tx.CreateBucketIfNotExists(bucket); err != nil {
		return err
	}
	seal, value := sealOf(bucket), r.append(nil)
	b.state.tallyOf(version, table).add(seal.sum(key, value), r.revision)
	return b.put(bucket, key, seal.close(key, value))
}

func (b *builder) commit(c record) error {
	key, value, seal := logKey(c.version), c.append(nil), sealOf(logBucket)
	b.state.log.add(seal.sum(key, value), c.version)
	return b.put(logBucket, key, seal.close(key, value))
}

// finish completes the file on disk, under its temporary name.
func (b *builder) finish() error {
	var err error
	if b.state.record != nil {
		err = b.put(metaBucket, schemaKey, b.state.setRecord(b.state.record))
	}
	if err == nil {
		err = b.put(metaBucket, stateKey, b.state.encode())
	}
	if err == nil {
		err = b.state.writePins(b.tx, new(state))
	}
	if err == nil {
		err = b.tx.Commit()
	}
	if err == nil {
		err = b.bolt.Close()
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(b.temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(dress(f, b.mode, b.like), f.Sync(), f.Close())
}

// modeBits are those that a file keeps when it is written anew.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// dress gives a file a mode, and the owner and group of another unless that is nil. What
// does not take them is an error, whatever the system says.
func dress(f *os.File, mode fs.FileMode, like os.FileInfo) error {
	is, err := f.Stat()
	if err != nil {
		return err
	}
	if like != nil && !sameOwner(is, like) {
		if err := chown(f, like); err != nil {
			return fmt.Errorf("the owner and group of the file cannot be kept: %w", err)
		}
	}
	if err := f.Chmod(mode & modeBits); err != nil { // after it got its owner, who takes bits away
		return fmt.Errorf("the mode of the file cannot be kept: %w", err)
	}
	if is, err = f.Stat(); err != nil || like == nil {
		return err
	}
	if is.Mode()&modeBits != mode&modeBits || !sameOwner(is, like) {
		return fmt.Errorf("the owner, group and mode of the file cannot be kept: the new one has %v", is.Mode())
	}
	return nil
}

// name gives the finished file its name, which nothing may have. It is durable after
// syncDir.
func (b *builder) name(path string) error { return giveName(b.temp, path) }

// giveName gives a file that has a temporary name another, which nothing may have.
func giveName(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, is := os.Lstat(path); is == nil {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return os.Rename(temp, path) // the file system has no links
}

// abort removes what there is of an unfinished file, and the temporary name of a finished
// one.
func (b *builder) abort() {
	if b.tx != nil {
		_ = b.tx.Rollback()
	}
	if b.bolt != nil {
		_ = b.bolt.Close()
	}
	_ = os.Remove(b.temp)
}
