ALTER DATABASE CHARACTER SET `utf8mb4` COLLATE `utf8mb4_unicode_ci`;
CREATE FUNCTION `twice`(n INT) RETURNS INT DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT 'Doubles'
RETURN n * 2;
CREATE PROCEDURE `clean`(IN before_id INT, OUT n INT)
BEGIN
  DELETE FROM orders WHERE id < before_id;
  SET n = ROW_COUNT();
END;
CREATE TABLE `customers` (
  `id` bigint unsigned AUTO_INCREMENT,
  `email` varchar(200) COLLATE `ascii_bin` NOT NULL COMMENT 'with \\ and ''quotes''',
  `name` varchar(80) DEFAULT 'it''s' CHECK (length(`name`) > 0),
  `upper_name` varchar(80) GENERATED ALWAYS AS (upper(`name`)) STORED,
  `short` varchar(9) GENERATED ALWAYS AS (left(`name`, 9)),
  `kind` enum('web', 'shop', 'it''s') NOT NULL DEFAULT 'web',
  `flags` set('a', 'b'),
  `secret` int INVISIBLE DEFAULT 5,
  `token` char(36) DEFAULT (uuid()),
  `bits` bit(4) DEFAULT b'101',
  `seen` datetime(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE current_timestamp(3),
  `price` decimal(10,2) unsigned NOT NULL DEFAULT 1.50,
  `about` text CHARACTER SET `latin1`,
  CONSTRAINT `price_given` CHECK (price >= 0),
  UNIQUE KEY (`email`),
  PRIMARY KEY (`id`),
  KEY `by_name` (`name`(10) DESC, `kind`) KEY_BLOCK_SIZE=4 COMMENT 'For lists',
  KEY `by_price` (`price`) USING HASH IGNORED,
  FULLTEXT KEY `words` (`about`)
) ENGINE=`InnoDB` AUTO_INCREMENT=100 ROW_FORMAT=DYNAMIC STATS_PERSISTENT=1 COMMENT='Who buys, it''s said';
CREATE TABLE `history` (
  `id` int NOT NULL,
  `n` int WITHOUT SYSTEM VERSIONING
) WITH SYSTEM VERSIONING;
CREATE TABLE `orders` (
  `id` int,
  `customer` bigint unsigned NOT NULL,
  `place` point NOT NULL,
  PRIMARY KEY (`id`),
  SPATIAL KEY `where` (`place`)
);
CREATE TABLE `parts` (
  `id` int NOT NULL,
  `a` date NOT NULL,
  `b` date NOT NULL,
  PERIOD FOR during (a, b)
)
PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
ALTER TABLE `orders` ADD CONSTRAINT `orders_customer` FOREIGN KEY (`customer`) REFERENCES `customers` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION;
CREATE ALGORITHM=MERGE VIEW `some_orders` AS
SELECT id FROM orders WITH CASCADED CHECK OPTION;
CREATE SQL SECURITY INVOKER VIEW `expensive` AS
SELECT id FROM some_orders WHERE id > 1;
CREATE EVENT `sweep` ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ON COMPLETION PRESERVE DISABLE COMMENT 'Nightly' DO
DELETE FROM orders WHERE id < 0;
CREATE TRIGGER `z_first` BEFORE INSERT ON `customers` FOR EACH ROW
SET NEW.email = lower(NEW.email);
CREATE TRIGGER `a_second` BEFORE INSERT ON `customers` FOR EACH ROW FOLLOWS `z_first`
SET NEW.secret = 1;
