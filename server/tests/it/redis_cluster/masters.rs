//! A Redis Cluster of a test's own: three masters on this machine, gone with the test however it ends.

use crate::support::eventually;
use redis::{Cmd, FromRedisValue, aio::MultiplexedConnection, cmd};
use server::redis::{Redis, RedisConfig};
use std::{
    fs::File,
    net::{Ipv4Addr, TcpListener},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Which slots each master begins with.
pub const SLOTS: [RangeInclusive<u16>; 3] = [0..=5_460, 5_461..=10_922, 10_923..=16_383];

/// Three masters without replicas.
pub struct Masters {
    masters: Vec<Master>,
    folder: PathBuf,
}

struct Master {
    program: Child,
    port: u16,
    bus_port: u16,
}

impl Masters {
    /// Starts them, gives each its slots, and waits until all say that the cluster is well.
    pub async fn start() -> Self {
        let name = format!("seatflow-cluster-{}", uuid::Uuid::new_v4().simple());
        let mut cluster = Self {
            masters: Vec::new(),
            folder: std::env::temp_dir().join(name),
        };
        for _ in SLOTS {
            cluster.add_master().await;
        }
        for (master, slots) in SLOTS.iter().enumerate() {
            let mut give = cmd("CLUSTER");
            give.arg("ADDSLOTSRANGE")
                .arg(slots.start())
                .arg(slots.end());
            cluster.ask::<()>(master, &give).await;
            // Epochs that differ settle at once whose word counts.
            let mut epoch = cmd("CLUSTER");
            epoch.arg("SET-CONFIG-EPOCH").arg(master + 1);
            cluster.ask::<()>(master, &epoch).await;
        }
        cluster.meet(1).await;
        cluster.meet(2).await;
        cluster.until_all_is_well().await;
        cluster
    }

    /// Starts one more master, without any slot. It knows nobody yet.
    async fn add_master(&mut self) {
        let [port, bus_port] = free_ports();
        let folder = self.folder.join(port.to_string());
        std::fs::create_dir_all(&folder).expect("a folder");
        self.masters.push(Master {
            program: program(&folder, port, bus_port),
            port,
            bus_port,
        });
        self.until_it_answers(self.len() - 1).await;
    }

    async fn until_it_answers(&self, master: usize) {
        eventually("a master answers", || async {
            let connection = self.connection(master).await?;
            answer::<String>(connection, &cmd("PING")).await.ok()
        })
        .await;
    }

    /// Makes a master known to the first one.
    async fn meet(&self, master: usize) {
        let Master { port, bus_port, .. } = self.masters[master];
        let mut meet = cmd("CLUSTER");
        meet.arg("MEET").arg("127.0.0.1").arg(port).arg(bus_port);
        self.ask::<()>(0, &meet).await;
    }

    /// Waits until each knows all the others and that every slot has a master.
    async fn until_all_is_well(&self) {
        let known = format!("cluster_known_nodes:{}\r", self.len());
        for master in 0..self.len() {
            eventually("the cluster is well", || async {
                let info: String = self.ask(master, cmd("CLUSTER").arg("INFO")).await;
                let signs = ["cluster_state:ok\r", "cluster_slots_ok:16384\r", &known];
                signs.iter().all(|sign| info.contains(sign)).then_some(())
            })
            .await;
        }
    }

    /// A master more, which the others know and which has no slot.
    pub async fn grow(&mut self) -> usize {
        let number = self.masters.len();
        self.add_master().await;
        self.meet(number).await;
        self.until_all_is_well().await;
        number
    }

    /// A replica of a master, which has all that the master has.
    pub async fn add_replica(&mut self, master: usize) -> usize {
        let replica = self.grow().await;
        let mut replicate = cmd("CLUSTER");
        replicate.arg("REPLICATE").arg(self.id_of(master).await);
        self.ask::<()>(replica, &replicate).await;
        eventually("the replica follows", || async {
            let info: String = self.ask(replica, cmd("INFO").arg("replication")).await;
            info.contains("master_link_status:up").then_some(())
        })
        .await;
        replica
    }

    /// Kills a master as soon as its replica has what it has, and lets the replica take its place.
    pub async fn fail_over(&mut self, master: usize, replica: usize) {
        let written = self.heard(master, "master_repl_offset:").await;
        eventually("the replica has heard everything", || async {
            (self.heard(replica, "slave_repl_offset:").await >= written).then_some(())
        })
        .await;
        self.kill(master);
        let mut take_over = cmd("CLUSTER");
        take_over.arg("FAILOVER").arg("TAKEOVER");
        self.ask::<()>(replica, &take_over).await;
    }

    /// How far a master has written, or its replica has heard, in bytes.
    async fn heard(&self, node: usize, name: &str) -> u64 {
        let info: String = self.ask(node, cmd("INFO").arg("replication")).await;
        let offset = info.lines().find_map(|line| line.strip_prefix(name));
        offset.and_then(|offset| offset.parse().ok()).expect(name)
    }

    /// What `REDIS_URL` is for this cluster; two of the nodes are enough to find the third.
    pub fn url(&self) -> String {
        let url = |master: &Master| format!("redis://127.0.0.1:{}", master.port);
        let urls: Vec<String> = self.masters.iter().take(2).map(url).collect();
        urls.join(",")
    }

    /// A handle to the keys of a prefix.
    pub async fn redis(&self, prefix: &str) -> Redis {
        self.patient_redis(prefix, Duration::from_secs(30)).await
    }

    /// The same, which waits so long for an answer.
    pub async fn patient_redis(&self, prefix: &str, patience: Duration) -> Redis {
        let config = RedisConfig {
            prefix: prefix.to_owned(),
            connect_timeout: Duration::from_secs(30),
            response_timeout: patience,
            ..RedisConfig::new(self.url())
        };
        Redis::connect(&config).await.expect("a cluster")
    }

    pub fn len(&self) -> usize {
        self.masters.len()
    }

    /// Asks one master past the product's own code.
    pub async fn ask<T: FromRedisValue>(&self, master: usize, command: &Cmd) -> T {
        let connection = self.connection(master).await.expect("a master");
        let answer = answer(connection, command).await;
        answer.unwrap_or_else(|error| panic!("{command:?} at master {master}: {error}"))
    }

    /// Tells every master.
    pub async fn tell_all(&self, command: &Cmd) {
        for master in 0..self.len() {
            self.ask::<()>(master, command).await;
        }
    }

    async fn connection(&self, master: usize) -> Option<MultiplexedConnection> {
        let address = format!("redis://127.0.0.1:{}", self.masters[master].port);
        let client = redis::Client::open(address).expect("an address");
        client.get_multiplexed_async_connection().await.ok()
    }

    /// The slot of a key, by Redis.
    pub async fn slot_of(&self, key: &str) -> u16 {
        self.ask(0, cmd("CLUSTER").arg("KEYSLOT").arg(key)).await
    }

    /// The master that a key's slot began at.
    pub async fn master_of(&self, key: &str) -> usize {
        let slot = self.slot_of(key).await;
        let has_it = |slots: &RangeInclusive<u16>| slots.contains(&slot);
        SLOTS.iter().position(has_it).expect("a master")
    }

    /// Begins to move a slot: from now on its keys may be at either master.
    pub async fn begin_moving(&self, slot: u16, from: usize, to: usize) {
        let set = |state: &str, master: String| {
            let mut set = cmd("CLUSTER");
            set.arg("SETSLOT").arg(slot).arg(state).arg(master);
            set
        };
        let (from_id, to_id) = (self.id_of(from).await, self.id_of(to).await);
        self.ask::<()>(to, &set("IMPORTING", from_id)).await;
        self.ask::<()>(from, &set("MIGRATING", to_id)).await;
    }

    /// Moves the keys that a slot has now; how many these were.
    pub async fn move_keys(&self, slot: u16, from: usize, to: usize) -> usize {
        let mut list = cmd("CLUSTER");
        list.arg("GETKEYSINSLOT").arg(slot).arg(1_000);
        let keys: Vec<String> = self.ask(from, &list).await;
        if !keys.is_empty() {
            let mut migrate = cmd("MIGRATE");
            migrate.arg("127.0.0.1").arg(self.masters[to].port);
            migrate.arg("").arg(0).arg(30_000).arg("KEYS").arg(&keys);
            self.ask::<String>(from, &migrate).await;
        }
        keys.len()
    }

    /// Says to all that a slot has moved.
    pub async fn end_moving(&self, slot: u16, from: usize, to: usize) {
        let mut set = cmd("CLUSTER");
        set.arg("SETSLOT").arg(slot).arg("NODE");
        set.arg(self.id_of(to).await);
        // The two that it concerns first: in between the others would send clients to the wrong one.
        self.ask::<()>(to, &set).await;
        self.ask::<()>(from, &set).await;
        self.tell_all(&set).await;
    }

    /// The name that the cluster has for a master.
    async fn id_of(&self, master: usize) -> String {
        self.ask(master, cmd("CLUSTER").arg("MYID")).await
    }

    /// Lets a master answer nobody for a while.
    pub async fn silence(&self, master: usize, time: Duration) {
        let mut pause = cmd("CLIENT");
        pause
            .arg("PAUSE")
            .arg(time.as_millis().to_string())
            .arg("ALL");
        self.ask::<()>(master, &pause).await;
    }

    /// Ends a master as a crash would.
    pub fn kill(&mut self, master: usize) {
        end(&mut self.masters[master].program);
    }

    /// Starts a killed master again, with its slots and without its keys.
    pub async fn start_again(&mut self, master: usize) {
        let Master { port, bus_port, .. } = self.masters[master];
        let folder = self.folder.join(port.to_string());
        self.masters[master].program = program(&folder, port, bus_port);
        self.until_it_answers(master).await;
    }
}

fn program(folder: &Path, port: u16, bus_port: u16) -> Child {
    let log = File::create(folder.join("log")).expect("a log");
    Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .args(["--port", &port.to_string()])
        .args(["--cluster-enabled", "yes"])
        .args(["--cluster-port", &bus_port.to_string()])
        // A machine that is busy for seconds must not look like a broken one.
        .args(["--cluster-node-timeout", "30000"])
        .args(["--cluster-require-full-coverage", "no"])
        // A replica begins at once.
        .args(["--repl-diskless-sync-delay", "0"])
        .arg("--dir")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}

async fn answer<T: FromRedisValue>(
    mut connection: MultiplexedConnection,
    command: &Cmd,
) -> redis::RedisResult<T> {
    command.query_async(&mut connection).await
}

impl Drop for Masters {
    fn drop(&mut self) {
        for master in &mut self.masters {
            end(&mut master.program);
        }
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            eprintln!("{} stays: {error}", self.folder.display());
        }
    }
}

/// Kills a program that was started here; nothing happens when it has ended already.
fn end(program: &mut Child) {
    if let Err(error) = program.kill().and_then(|()| program.wait()) {
        eprintln!("redis-server {} was not ended: {error}", program.id());
    }
}

/// Two ports that nobody uses at this moment.
fn free_ports() -> [u16; 2] {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    // Both are held at once, so that they differ.
    [bind(), bind()].map(|listener| listener.local_addr().expect("an address").port())
}
